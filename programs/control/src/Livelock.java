import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads that each hold a lock and try for the other's without ever letting go of their own:
 * both go on for ever and get nowhere.
 */
public final class Livelock {
    private Livelock() {}

    static void both(ReentrantLock mine, ReentrantLock other) {
        mine.lock();
        try {
            while (!other.tryLock()) {
                Thread.onSpinWait();
            }
            other.unlock();
        } finally {
            mine.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReentrantLock left = new ReentrantLock();
        ReentrantLock right = new ReentrantLock();
        Thread one = new Thread(() -> both(left, right), "one");
        Thread two = new Thread(() -> both(right, left), "two");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("both had both");
    }
}
