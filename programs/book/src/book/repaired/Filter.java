package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The filter lock: one thread is held back at each level; atomic arrays. */
public final class Filter extends Mutex {
    private static final int THREADS = 2;

    private final AtomicIntegerArray level = new AtomicIntegerArray(THREADS);
    private final AtomicIntegerArray victim = new AtomicIntegerArray(THREADS);

    @Override
    protected void lock(int me) {
        for (int at = 1; at < THREADS; at++) {
            level.set(me, at);
            victim.set(at, me);
            while (othersAbove(me, at) && victim.get(at) == me) {
                Thread.onSpinWait();
            }
        }
    }

    private boolean othersAbove(int me, int at) {
        for (int other = 0; other < THREADS; other++) {
            if (other != me && level.get(other) >= at) {
                return true;
            }
        }
        return false;
    }

    @Override
    protected void unlock(int me) {
        level.set(me, 0);
    }

    public static void main(String[] args) throws InterruptedException {
        new Filter().count();
    }
}
