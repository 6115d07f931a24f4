package papers;

/**
 * A cache whose cleaner sleeps between two rounds; who stops the cache wakes it. Stands for cache4j in RaceFuzzer's table
 * 1 and has the fault of its section 5.3: the flag {@code sleeping} is true a moment before the cleaner sleeps where it
 * catches the interrupt.
 */
public final class CacheCleaner extends Thread {
    private final Object entries = new Object();
    private boolean sleeping;
    private int cleaned;
    private volatile boolean closed;

    private CacheCleaner() {
        super("cleaner");
    }

    @Override
    public void run() {
        while (!closed) {
            sleeping = true; // race: cache
            clean();
            try {
                sleep(10);
            } catch (InterruptedException woken) {
                // To clean at once is what it was woken for.
            } finally {
                sleeping = false; // race: cache
            }
        }
    }

    /** Where an interrupt that comes too early is found. */
    private void clean() {
        synchronized (entries) {
            cleaned++;
        }
        if (interrupted()) {
            throw new IllegalStateException("interrupted before it slept");
        }
    }

    private synchronized void wake() {
        if (sleeping) { // race: cache
            interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CacheCleaner cleaner = new CacheCleaner();
        cleaner.start();
        cleaner.wake();
        cleaner.closed = true;
        cleaner.join();
        System.out.println("closed");
    }
}
