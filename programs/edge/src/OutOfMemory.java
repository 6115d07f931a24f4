import java.util.ArrayList;
import java.util.List;

/**
 * Fills the heap from two threads until there is no more, lets go, and carries on.
 * Run with a small heap. While it fills up nobody else allocates: an error there
 * would be as likely, and would end the program.
 */
public final class OutOfMemory {
    /** Both threads are up before either fills; waiting for it needs no memory. */
    private static volatile boolean go;

    private OutOfMemory() {}

    private static final class Filler implements Runnable {
        private boolean full;

        @Override
        public void run() {
            while (!go) {
                Thread.yield();
            }
            try {
                List<long[]> hoard = new ArrayList<>();
                while (true) {
                    hoard.add(new long[64 * 1024]);
                }
            } catch (OutOfMemoryError e) {
                full = true;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Filler first = new Filler();
        Filler second = new Filler();
        Thread one = new Thread(first);
        Thread two = new Thread(second);
        one.start();
        two.start();
        go = true;
        one.join();
        two.join();
        System.out.println("full: " + first.full + " " + second.full);
        try {
            int[][] vast = new int[Integer.MAX_VALUE][];
            System.out.println("vast: " + vast.length);
        } catch (OutOfMemoryError e) {
            System.out.println("too vast");
        }
        int[] small = new int[1000];
        small[999] = 7;
        System.out.println("carried on with " + small[999]);
    }
}
