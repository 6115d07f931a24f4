/**
 * Whether to wait is decided before the lock is taken: if the notification comes in between, it is
 * lost, and nobody is left to wake the waiting thread.
 */
public final class LostNotify {
    static final Object lock = new Object();
    static volatile boolean ready;

    private LostNotify() {}

    static void produce() {
        ready = true;
        synchronized (lock) {
            lock.notify();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread producer = new Thread(LostNotify::produce, "producer");
        producer.start();
        if (!ready) {
            synchronized (lock) {
                lock.wait();
            }
        }
        producer.join();
        System.out.println("got it");
    }
}
