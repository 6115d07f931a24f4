/**
 * Race-free, but suspicious: the two writes of `value` have no lock in common, and
 * are ordered by a flag behind a lock.
 */
final class Handed {
    private static final Object LOCK = new Object();
    private static boolean ready;
    private static int value;

    public static void main(String[] args) throws InterruptedException {
        Thread taker = new Thread(Handed::take);
        taker.start();
        value = 1;
        synchronized (LOCK) {
            ready = true;
        }
        taker.join();
        // A hunt of a second does not get to the end of the first run.
        Thread.sleep(args.length > 0 ? 2000 : 0);
    }

    private static void take() {
        while (!isReady()) {
            Thread.yield();
        }
        value++;
    }

    private static boolean isReady() {
        synchronized (LOCK) {
            return ready;
        }
    }
}
