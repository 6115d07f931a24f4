package jrf.repaired;

/** The flag is volatile. */
public final class Figure2 {
    static int x;
    static volatile boolean done;

    private Figure2() {}

    static final class Writer extends Thread {
        @Override
        public void run() {
            x = 1;
            done = true;
        }
    }

    static final class Reader extends Thread {
        @Override
        public void run() {
            while (!done) {
                Thread.onSpinWait();
            }
            if (x != 1) {
                throw new AssertionError("x is not there");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread writer = new Writer();
        Thread reader = new Reader();
        writer.start();
        reader.start();
        writer.join();
        reader.join();
    }
}
