package book.faulty;

import book.Mutex;

/** Peterson's lock: plain flags behind a volatile reference, and a plain victim. */
public final class Peterson extends Mutex {
    private volatile boolean[] flag = new boolean[2];
    private int victim;

    @Override
    protected void lock(int me) {
        int other = 1 - me;
        flag[me] = true; // race: Peterson
        victim = me; // race: Peterson
        while (flag[other] && victim == me) { // race: Peterson
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        flag[me] = false; // race: Peterson
    }

    public static void main(String[] args) throws InterruptedException {
        new Peterson().count();
    }
}
