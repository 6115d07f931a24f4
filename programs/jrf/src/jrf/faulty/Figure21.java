package jrf.faulty;

/** One reader asks the flag first, another does not. */
public final class Figure21 {
    static int x;
    static volatile boolean done;

    private Figure21() {}

    static final class Writer extends Thread {
        @Override
        public void run() {
            x = 1; // race: Figure21
            done = true;
        }
    }

    static final class Careful extends Thread {
        @Override
        public void run() {
            if (done && x != 1) {
                throw new AssertionError("x is not there");
            }
        }
    }

    static final class Careless extends Thread {
        int seen;

        @Override
        public void run() {
            seen = x; // race: Figure21
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] all = {new Writer(), new Careful(), new Careless()};
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }
}
