/**
 * No race. One thread takes a lock and then spins, in the same method, until the other has
 * taken it too: whoever waits for it to take the lock again waits in vain.
 */
public final class Spins {
    private static final class Lock {}

    private static final Lock LOCK = new Lock();
    private static volatile boolean spinning;
    private static volatile boolean done;

    private Spins() {}

    private static void spin() {
        synchronized (LOCK) {
            spinning = true;
        }
        while (!done) {
            Thread.onSpinWait();
        }
    }

    private static void release() {
        while (!spinning) {
            Thread.onSpinWait();
        }
        synchronized (LOCK) {
            done = true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread spinner = new Thread(Spins::spin, "spinner");
        Thread releaser = new Thread(Spins::release, "releaser");
        spinner.start();
        releaser.start();
        spinner.join();
        releaser.join();
        System.out.println("done");
    }
}
