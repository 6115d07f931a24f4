import java.util.ArrayList;
import java.util.List;

/** Fills the heap from two threads until there is no more, lets go, and carries on. Run with a small heap. */
public final class OutOfMemory {
    private OutOfMemory() {}

    private static final class Filler implements Runnable {
        private boolean full;

        @Override
        public void run() {
            List<long[]> hoard = new ArrayList<>();
            try {
                while (true) {
                    hoard.add(new long[64 * 1024]);
                }
            } catch (OutOfMemoryError e) {
                hoard = null;
                full = true;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Filler[] fillers = {new Filler(), new Filler()};
        Thread[] threads = new Thread[fillers.length];
        for (int i = 0; i < fillers.length; i++) {
            threads[i] = new Thread(fillers[i]);
            threads[i].start();
        }
        for (int i = 0; i < fillers.length; i++) {
            threads[i].join();
            System.out.println("full: " + fillers[i].full);
        }
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
