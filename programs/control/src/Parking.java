import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Permits, interrupts and deadlines of park and of conditions. */
public final class Parking {
    static final AtomicInteger stage = new AtomicInteger();

    private Parking() {}

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    static void awaitStage(int wanted) {
        while (stage.get() < wanted) {
            LockSupport.park();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        // A permit given before the park lets it through at once, and only once.
        Thread early = start("early", () -> {
            LockSupport.unpark(Thread.currentThread());
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park();
            long before = System.nanoTime();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            System.out.println("permits do not add up: " + (System.nanoTime() >= before));
        });
        early.join();
        Thread parked = start("parked", () -> awaitStage(1));
        stage.set(1);
        LockSupport.unpark(parked);
        parked.join();
        System.out.println("unparked");
        Thread interrupted = start("interrupted", () -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.park();
            }
            // With the flag set, park does not block.
            LockSupport.park();
            System.out.println("interrupted " + Thread.interrupted() + " " + Thread.interrupted());
        });
        interrupted.interrupt();
        interrupted.join();
        ReentrantLock lock = new ReentrantLock(true);
        Condition condition = lock.newCondition();
        Thread waiter = start("waiter", () -> {
            lock.lock();
            try {
                while (stage.get() < 2) {
                    condition.await();
                }
                System.out.println("signalled " + lock.isHeldByCurrentThread());
                long left = condition.awaitNanos(TimeUnit.MILLISECONDS.toNanos(5));
                System.out.println("time is up " + (left <= 0));
                condition.await();
            } catch (InterruptedException e) {
                System.out.println("woken " + lock.isHeldByCurrentThread());
            } finally {
                lock.unlock();
            }
        });
        lock.lock();
        try {
            stage.set(2);
            condition.signalAll();
        } finally {
            lock.unlock();
        }
        while (!lock.tryLock() || !lock.hasWaiters(condition)) {
            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
            if (stage.get() == 2 && !waiter.isAlive()) {
                break;
            }
            Thread.sleep(20);
        }
        if (lock.isHeldByCurrentThread()) {
            lock.unlock();
        }
        Thread.sleep(20);
        waiter.interrupt();
        waiter.join();
        try {
            lock.unlock();
            System.out.println("unlocked what is not ours?");
        } catch (IllegalMonitorStateException e) {
            System.out.println("not ours");
        }
    }
}
