package jrf.repaired;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Peterson's lock with an array of which the elements are volatile. */
public final class Figure8 {
    static volatile int turn;
    static int shared;
    static final AtomicIntegerArray FLAG = new AtomicIntegerArray(2);

    private Figure8() {}

    static final class Side extends Thread {
        private final int me;

        Side(int me) {
            this.me = me;
        }

        @Override
        public void run() {
            int other = 1 - me;
            FLAG.set(me, 1);
            turn = other;
            while (FLAG.get(other) == 1 && turn == other) {
                Thread.onSpinWait();
            }
            shared++;
            FLAG.set(me, 0);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Side(0);
        Thread second = new Side(1);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
