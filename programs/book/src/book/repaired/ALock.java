package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** A queue lock over an array: each thread spins on an element of its own, a volatile one. */
public final class ALock extends Mutex {
    private final AtomicInteger tail = new AtomicInteger();
    private final AtomicIntegerArray flag = new AtomicIntegerArray(new int[] {1, 0});
    /** Of each thread; nobody else looks. */
    private final int[] slot = new int[2];

    @Override
    protected void lock(int me) {
        int mine = tail.getAndIncrement() % flag.length();
        slot[me] = mine;
        while (flag.get(mine) == 0) {
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        int mine = slot[me];
        flag.set(mine, 0);
        flag.set((mine + 1) % flag.length(), 1);
    }

    public static void main(String[] args) throws InterruptedException {
        new ALock().count();
    }
}
