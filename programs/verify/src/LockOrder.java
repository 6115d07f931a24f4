import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Two threads take two locks, each in another order. */
public final class LockOrder {
    private static final Lock FIRST = new ReentrantLock();
    private static final Lock SECOND = new ReentrantLock();

    private LockOrder() {}

    private static void both(Lock outer, Lock inner) {
        outer.lock();
        inner.lock();
        inner.unlock();
        outer.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        Litmus.together(() -> both(FIRST, SECOND), () -> both(SECOND, FIRST));
    }
}
