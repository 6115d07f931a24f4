package jrf.faulty;

/** A value and a flag that says that it is there; also figure 4, the advice on it. */
public final class Figure2 {
    static int x;
    static boolean done;

    private Figure2() {}

    static final class Writer extends Thread {
        @Override
        public void run() {
            x = 1; // race: Figure2
            done = true; // race: Figure2
        }
    }

    static final class Reader extends Thread {
        @Override
        public void run() {
            while (!done) { // race: Figure2
                Thread.onSpinWait();
            }
            if (x != 1) { // race: Figure2
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
