import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits that nobody ends: each must expire, and not before its time. */
public final class TimedWait {
    static final Object lock = new Object();

    private interface Body {
        void run() throws InterruptedException;
    }

    private TimedWait() {}

    static void expire(String name, Body body) {
        Thread thread = new Thread(() -> {
            long start = System.nanoTime();
            try {
                body.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            long passed = System.nanoTime() - start;
            if (passed < TimeUnit.MILLISECONDS.toNanos(19)) {
                throw new IllegalStateException(name + " was too early: " + passed);
            }
            System.out.println(name + " expired");
        }, name);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) {
        expire("wait", () -> {
            synchronized (lock) {
                lock.wait(20);
            }
        });
        expire("sleep", () -> Thread.sleep(20));
        expire("park", () -> {
            long until = System.nanoTime() + 20_000_000;
            for (long left = 20_000_000; left > 0; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        });
        expire("latch", () -> new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS));
        expire("queue", () -> new SynchronousQueue<String>().poll(20, TimeUnit.MILLISECONDS));
        Thread never = new Thread(() -> LockSupport.park(), "never");
        never.setDaemon(true);
        never.start();
        expire("join", () -> never.join(20));
    }
}
