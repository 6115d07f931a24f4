import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Wrong uses of threads and locks. Each must fail exactly as the JVM and the library have it. */
public final class Misuse {
    private interface Body {
        void run() throws Exception;
    }

    private Misuse() {}

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        tryIt("notify without the lock", lock::notify);
        tryIt("notifyAll without the lock", lock::notifyAll);
        tryIt("wait without the lock", () -> lock.wait(1));
        tryIt("negative wait", () -> {
            synchronized (lock) {
                lock.wait(-1);
            }
        });
        tryIt("unlock without the lock", () -> new ReentrantLock().unlock());
        tryIt("read unlock without the lock", () -> new ReentrantReadWriteLock().readLock().unlock());
        tryIt("signal without the lock", () -> new ReentrantLock().newCondition().signal());
        tryIt("await without the lock", () -> new ReentrantLock().newCondition().await());
        tryIt("lock on null", () -> {
            Object none = args.length > 100 ? lock : null;
            synchronized (none) {
                System.out.println("got it");
            }
        });
        Thread thread = new Thread(() -> {});
        thread.join();
        thread.start();
        tryIt("start twice", thread::start);
        thread.join();
        tryIt("start after the end", thread::start);
        tryIt("negative join", () -> thread.join(-1));
        tryIt("negative sleep", () -> Thread.sleep(-1));
        tryIt("sleep while interrupted", () -> {
            Thread.currentThread().interrupt();
            Thread.sleep(1);
        });
        tryIt("wait while interrupted", () -> {
            Thread.currentThread().interrupt();
            synchronized (lock) {
                lock.wait(1);
            }
        });
        System.out.println("interrupted now: " + Thread.interrupted());
        joinWhileHolding(lock);
    }

    /** Joining with some other lock in hand is fine; the ending thread does not need it. */
    private static void joinWhileHolding(Object lock) throws InterruptedException {
        synchronized (lock) {
            Thread other = new Thread(() -> {});
            other.start();
            other.join();
        }
        System.out.println("joined while holding a lock");
    }

    private static void tryIt(String what, Body body) {
        try {
            body.run();
            System.out.println(what + ": nothing happened");
        } catch (Exception e) {
            System.out.println(what + ": " + e);
        }
    }
}
