/**
 * A worker that is told to stop through a plain boolean. Nothing obliges the
 * worker ever to see the change: a compiler may read the flag once and keep it.
 * (Here the worker sleeps between looks and gives up after a while, so that the
 * example ends whatever happens.)
 */
public final class StopFlag {
    private static final int MOST_LOOKS = 10_000;

    /** Polls its mailbox until it is stopped. */
    private static final class Poller implements Runnable {
        private boolean stopped; // the bug: should be volatile
        private int looks;

        @Override
        public void run() {
            while (!stopped && looks < MOST_LOOKS) { // race: StopFlag
                looks++;
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void stop() {
            stopped = true; // race: StopFlag
        }
    }

    private StopFlag() {}

    public static void main(String[] args) throws InterruptedException {
        Poller poller = new Poller();
        Thread thread = new Thread(poller, "poller");
        thread.start();
        Thread.sleep(50);
        poller.stop();
        thread.join();
        System.out.println(poller.looks < MOST_LOOKS ? "stopped when told" : "never noticed");
    }
}
