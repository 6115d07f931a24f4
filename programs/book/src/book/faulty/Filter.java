package book.faulty;

import book.Mutex;

/** The filter lock: one thread is held back at each level; arrays of plain elements. */
public final class Filter extends Mutex {
    private static final int THREADS = 2;

    private volatile int[] level = new int[THREADS];
    private volatile int[] victim = new int[THREADS];

    @Override
    protected void lock(int me) {
        for (int at = 1; at < THREADS; at++) {
            level[me] = at; // race: Filter
            victim[at] = me; // race: Filter
            while (othersAbove(me, at) && victim[at] == me) { // race: Filter
                Thread.onSpinWait();
            }
        }
    }

    private boolean othersAbove(int me, int at) {
        for (int other = 0; other < THREADS; other++) {
            if (other != me && level[other] >= at) { // race: Filter
                return true;
            }
        }
        return false;
    }

    @Override
    protected void unlock(int me) {
        level[me] = 0; // race: Filter
    }

    public static void main(String[] args) throws InterruptedException {
        new Filter().count();
    }
}
