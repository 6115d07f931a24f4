import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Methods of the JDK that HotSpot has code of its own for: run until they are compiled,
 * then raced with, each over an array of another type.
 */
final class Hot {
    private static final int TIMES = 60_000;

    private static int sink;

    private static void copyOf(String[] from) {
        sink += Arrays.copyOf(from, 8).length;
    }

    private static void copyOfRange(Integer[] from) {
        sink += Arrays.copyOfRange(from, 0, 8).length;
    }

    private static void copyOfInts(int[] from) {
        sink += Arrays.copyOf(from, 8).length;
    }

    private static void cloned(short[] from) {
        sink += from.clone().length;
    }

    private static void arraycopy(float[] from) {
        float[] to = new float[8];
        System.arraycopy(from, 0, to, 0, 8);
        sink += (int) to[0];
    }

    private static void fill(double[] into) {
        Arrays.fill(into, 1.0);
    }

    private static void encode(byte[] from) {
        sink += Base64.getEncoder().encode(from).length;
    }

    private static void race(Runnable write, Runnable use) throws InterruptedException {
        AtomicInteger here = new AtomicInteger();
        Thread writer = new Thread(() -> {
            meet(here);
            write.run();
        });
        Thread user = new Thread(() -> {
            meet(here);
            use.run();
        });
        writer.start();
        user.start();
        writer.join();
        user.join();
    }

    private static void meet(AtomicInteger here) {
        here.incrementAndGet();
        while (here.get() < 2) {
            Thread.yield();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < TIMES; i++) {
            copyOf(new String[8]);
            copyOfRange(new Integer[8]);
            copyOfInts(new int[8]);
            cloned(new short[8]);
            arraycopy(new float[8]);
            fill(new double[8]);
            encode(new byte[24]);
        }
        String[] strings = new String[8];
        race(() -> strings[3] = "", () -> copyOf(strings));
        Integer[] integers = new Integer[8];
        race(() -> integers[3] = 1, () -> copyOfRange(integers));
        int[] ints = new int[8];
        race(() -> ints[3] = 1, () -> copyOfInts(ints));
        short[] shorts = new short[8];
        race(() -> shorts[3] = 1, () -> cloned(shorts));
        float[] floats = new float[8];
        race(() -> floats[3] = 1, () -> arraycopy(floats));
        double[] doubles = new double[8];
        race(() -> doubles[3] = 2, () -> fill(doubles));
        byte[] bytes = new byte[24];
        race(() -> bytes[3] = 1, () -> encode(bytes));
        System.out.println("done");
    }
}
