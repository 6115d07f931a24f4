import java.io.File;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One thread reads a field plainly and then updates it; the other one updates it later, sees
 * that, and so comes after the read. That it is later it learns from a file that goes away, which
 * orders nothing.
 */
public final class Updates {
    private static final VarHandle COUNT = handle();

    private int count;
    private int seen;

    public static void main(String[] args) throws Exception {
        boolean adds = args[0].equals("add");
        File sign = File.createTempFile("updates", null);
        String path = sign.getPath();
        Updates all = new Updates();
        Thread first = new Thread(() -> {
            all.seen = all.count;
            COUNT.getAndAdd(all, 1);
            new File(path).delete();
        });
        Thread second = new Thread(() -> {
            while (new File(path).exists()) {
                Thread.onSpinWait();
            }
            if (adds) {
                COUNT.getAndAdd(all, 1);
            } else if (!COUNT.compareAndSet(all, 1, 2)) {
                throw new AssertionError("the first one was not seen");
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println(all.count + all.seen);
    }

    private static VarHandle handle() {
        try {
            return MethodHandles.lookup().findVarHandle(Updates.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
