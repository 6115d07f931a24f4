package jrf.faulty;

/** Peterson's lock: that the array is volatile says nothing of its elements. */
public final class Figure8 {
    static volatile int turn;
    static int shared;
    static volatile boolean[] flag = {false, false};

    private Figure8() {}

    static final class Side extends Thread {
        private final int me;

        Side(int me) {
            this.me = me;
        }

        @Override
        public void run() {
            int other = 1 - me;
            flag[me] = true; // race: Figure8
            turn = other;
            while (flag[other] && turn == other) { // race: Figure8
                Thread.onSpinWait();
            }
            shared++; // race: Figure8
            flag[me] = false; // race: Figure8
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
