import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Class initialisation and linkage, by several threads at once: one runs the initialiser, the
 * others wait for it inside the JVM, where no tool can switch threads.
 */
public final class ClassInit {
    static final Object lock = new Object();

    /** Its initialiser takes locks, sleeps and waits for another thread. */
    static final class Slow {
        static final int value;

        static {
            int[] made = new int[1];
            Thread helper = helper(made);
            helper.start();
            try {
                Thread.sleep(3);
                helper.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            value = made[0];
        }
    }

    static class Base {
        static final List<String> names = new ArrayList<>();

        static {
            names.add("base");
        }
    }

    static final class Derived extends Base {
        static final int size;

        static {
            synchronized (lock) {
                names.add("derived");
            }
            size = names.size();
        }
    }

    static final class Failing {
        static final int value = Integer.parseInt("no number");
    }

    private ClassInit() {}

    /** Not in the initialiser itself: its lambda would need the class that is being initialised. */
    static Thread helper(int[] made) {
        return new Thread(() -> {
            synchronized (lock) {
                made[0] = 42;
            }
        });
    }

    static String outcome(IntSupplier body) {
        try {
            return Integer.toString(body.getAsInt());
        } catch (Throwable e) {
            return e instanceof Error ? "error" : "exception";
        }
    }

    static void inThreads(String name, IntSupplier body) throws InterruptedException {
        String[] got = new String[4];
        Thread[] threads = new Thread[got.length];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> got[me] = outcome(body), name + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(name + " " + String.join(" ", got));
    }

    public static void main(String[] args) throws InterruptedException {
        inThreads("slow", () -> Slow.value);
        inThreads("derived", () -> Derived.size);
        inThreads("failing", () -> Failing.value);
        // Lambdas and string concatenation are linked when they first run.
        inThreads("linked", () -> {
            IntSupplier inner = () -> ("a" + lock.getClass().getName() + Thread.currentThread().getPriority()).length();
            synchronized (lock) {
                return inner.getAsInt();
            }
        });
    }
}
