package jrf.repaired;

/** Both threads lock. */
public final class Figure16 {
    static int data;
    static final Object LOCK = new Object();

    private Figure16() {}

    static final class Writer extends Thread {
        @Override
        public void run() {
            synchronized (LOCK) {
                data = 1;
            }
        }
    }

    static final class Reader extends Thread {
        int seen;

        @Override
        public void run() {
            synchronized (LOCK) {
                seen = data;
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
