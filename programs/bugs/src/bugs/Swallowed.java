package bugs;

/** An interrupt asks the worker to stop, but what it waits for eats it. */
public final class Swallowed {
    private static final Object LOCK = new Object();
    private static boolean ready;

    public static void main(String[] args) {
        Thread worker = new Thread(Swallowed::work, "worker");
        worker.start();
        Thread helper = new Thread(Swallowed::makeReady, "helper");
        helper.start();
        worker.interrupt();
        Bugs.join(helper);
        Bugs.join(worker);
    }

    private static void makeReady() {
        synchronized (LOCK) {
            ready = true;
            LOCK.notifyAll();
        }
    }

    private static void work() {
        synchronized (LOCK) {
            while (!ready) {
                try {
                    LOCK.wait();
                } catch (InterruptedException e) {
                    // Somebody wants something; it is forgotten.
                }
            }
            while (!Thread.currentThread().isInterrupted()) {
                try {
                    LOCK.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }
}
