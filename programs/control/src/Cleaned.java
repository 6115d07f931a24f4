import java.util.zip.Inflater;

/**
 * Two threads make objects that the JDK's own cleaner thread frees meanwhile. It takes a monitor
 * of the JDK's for each, and so do they: who waits for it does not depend on the schedule, and
 * must not change it.
 */
public final class Cleaned {
    private static int made;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {new Thread(Cleaned::make), new Thread(Cleaned::make)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(made);
    }

    private static void make() {
        for (int i = 0; i < 3000; i++) {
            new Inflater();
            if (i % 500 == 499) {
                System.gc();
                count();
            }
        }
    }

    private static synchronized void count() {
        made++;
    }
}
