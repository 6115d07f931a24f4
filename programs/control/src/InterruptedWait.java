/** Threads that are interrupted before, while and instead of waiting. */
public final class InterruptedWait {
    static final Object lock = new Object();

    private InterruptedWait() {}

    public static void main(String[] args) throws InterruptedException {
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                try {
                    lock.wait();
                    System.out.println("notified?");
                } catch (InterruptedException e) {
                    // The monitor is held again, and the flag is clear.
                    System.out.println("interrupted " + Thread.holdsLock(lock) + " "
                            + Thread.currentThread().isInterrupted());
                }
            }
        }, "waiter");
        waiter.start();
        waiter.interrupt();
        waiter.join();
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(3_600_000);
                System.out.println("slept?");
            } catch (InterruptedException e) {
                System.out.println("woken");
            }
        }, "sleeper");
        sleeper.start();
        sleeper.interrupt();
        sleeper.join();
        Thread joiner = new Thread(() -> {
            try {
                Thread.currentThread().join();
                System.out.println("joined itself?");
            } catch (InterruptedException e) {
                System.out.println("gave up");
            }
        }, "joiner");
        joiner.start();
        joiner.interrupt();
        joiner.join();
    }
}
