package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Peterson's lock with volatile flags and a volatile victim. */
public final class Peterson extends Mutex {
    private final AtomicIntegerArray flag = new AtomicIntegerArray(2);
    private volatile int victim;

    @Override
    protected void lock(int me) {
        int other = 1 - me;
        flag.set(me, 1);
        victim = me;
        while (flag.get(other) == 1 && victim == me) {
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        flag.set(me, 0);
    }

    public static void main(String[] args) throws InterruptedException {
        new Peterson().count();
    }
}
