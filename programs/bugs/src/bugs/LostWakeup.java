package bugs;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The flag is set outside of the lock, so that the signal may come before the wait. */
public final class LostWakeup {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition READY = LOCK.newCondition();
    private static volatile boolean ready;

    public static void main(String[] args) {
        Bugs.together(LostWakeup::await, LostWakeup::tell);
    }

    private static void await() {
        boolean there = ready;
        LOCK.lock();
        try {
            if (!there) {
                READY.awaitUninterruptibly();
            }
        } finally {
            LOCK.unlock();
        }
    }

    private static void tell() {
        ready = true;
        LOCK.lock();
        try {
            READY.signal();
        } finally {
            LOCK.unlock();
        }
    }
}
