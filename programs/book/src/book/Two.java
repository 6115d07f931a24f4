package book;

/** Two threads that use one thing, each under a number of its own: 0 and 1. */
public abstract class Two {
    private static final class Worker extends Thread {
        private final Two shared;
        private final int me;

        Worker(Two shared, int me) {
            super("worker-" + me);
            this.shared = shared;
            this.me = me;
        }

        @Override
        public void run() {
            shared.work(me);
        }
    }

    /** What the thread with this number does. */
    protected abstract void work(int me);

    /** Runs both, and comes back when both are done. */
    public final void run() throws InterruptedException {
        Thread first = new Worker(this, 0);
        Thread second = new Worker(this, 1);
        first.start();
        second.start();
        first.join();
        second.join();
    }

    /** Throws unless what must be so is so. */
    protected static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
