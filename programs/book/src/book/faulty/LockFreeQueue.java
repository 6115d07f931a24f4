package book.faulty;

import book.Two;

/** A queue for one thread that puts and one that takes. */
public final class LockFreeQueue extends Two {
    private static final int SIZE = 1;

    private int head;
    private int tail;
    private final int[] items = new int[SIZE];

    private void enq(int item) {
        while (tail - head == SIZE) { // race: LockFreeQueue
            Thread.onSpinWait();
        }
        items[tail % SIZE] = item; // race: LockFreeQueue
        tail++; // race: LockFreeQueue
    }

    private int deq() {
        while (tail - head == 0) { // race: LockFreeQueue
            Thread.onSpinWait();
        }
        int item = items[head % SIZE]; // race: LockFreeQueue
        head++; // race: LockFreeQueue
        return item;
    }

    @Override
    protected void work(int me) {
        if (me == 0) {
            enq(1);
            enq(2);
        } else {
            check(deq() == 1 && deq() == 2, "another order than that of putting");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new LockFreeQueue().run();
    }
}
