/**
 * Whether to wait is decided before the lock is taken: if the notification comes in between, it is
 * lost, and nobody is left to wake the waiting thread.
 */
public final class LostNotify {
    static final Object lock = new Object();
    static volatile boolean ready;
    static double worked;

    private LostNotify() {}

    static void consume() {
        if (!ready) {
            synchronized (lock) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        System.out.println("got it");
    }

    static void produce() {
        for (int i = 1; i < 3_000_000; i++) {
            worked += Math.sqrt(i);
        }
        ready = true;
        synchronized (lock) {
            lock.notify();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread consumer = new Thread(LostNotify::consume, "consumer");
        Thread producer = new Thread(LostNotify::produce, "producer");
        consumer.start();
        producer.start();
        consumer.join();
        producer.join();
    }
}
