package book.faulty;

import book.Mutex;
import java.util.concurrent.atomic.AtomicInteger;

/** A queue lock over an array: each thread spins on an element of its own, a plain one. */
public final class ALock extends Mutex {
    private final AtomicInteger tail = new AtomicInteger();
    private volatile boolean[] flag = {true, false};
    /** Of each thread; nobody else looks. */
    private final int[] slot = new int[2];

    @Override
    protected void lock(int me) {
        int mine = tail.getAndIncrement() % flag.length;
        slot[me] = mine;
        while (!flag[mine]) { // race: ALock
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        int mine = slot[me];
        flag[mine] = false; // race: ALock
        flag[(mine + 1) % flag.length] = true; // race: ALock
    }

    public static void main(String[] args) throws InterruptedException {
        new ALock().count();
    }
}
