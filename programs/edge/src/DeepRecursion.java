/** Runs out of stack in several ways, and carries on each time. */
public final class DeepRecursion {
    private int depth;
    private final int[] cells = new int[16];

    private int plain(int n) {
        depth++;
        cells[n & 15] = n;
        return plain(n + 1) + 1;
    }

    private synchronized int holding(int n) {
        depth++;
        cells[n & 15] += n;
        return holding(n + 1) + 1;
    }

    private int blocks(Object lock, int n) {
        synchronized (lock) {
            depth++;
            return blocks(lock, n + 1) + 1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(null, DeepRecursion::fallThrice, "small stack", 256 * 1024);
        thread.start();
        thread.join();
        fallThrice();
        System.out.println("done");
    }

    private static void fallThrice() {
        DeepRecursion it = new DeepRecursion();
        Object lock = new Object();
        try {
            it.plain(0);
        } catch (StackOverflowError e) {
            report("plain", it);
        }
        try {
            it.holding(0);
        } catch (StackOverflowError e) {
            report("synchronized methods", it);
        }
        try {
            it.blocks(lock, 0);
        } catch (StackOverflowError e) {
            report("synchronized blocks", it);
        }
        System.out.println("locks are free: " + (isFree(it) && isFree(lock)));
    }

    private static void report(String how, DeepRecursion it) {
        System.out.println(how + (it.depth > 100 ? ": fell deep" : ": fell at once"));
        it.depth = 0;
    }

    /** Whether another thread can take the lock. */
    private static boolean isFree(Object lock) {
        Thread taker = new Thread(() -> {
            synchronized (lock) {
                Thread.yield();
            }
        });
        taker.setDaemon(true);
        taker.start();
        try {
            taker.join(10_000);
        } catch (InterruptedException e) {
            return false;
        }
        return !taker.isAlive();
    }
}
