package jrf.faulty;

/** Data that only one of the two threads locks. */
public final class Figure16 {
    static int data;
    static final Object LOCK = new Object();

    private Figure16() {}

    static final class Writer extends Thread {
        @Override
        public void run() {
            synchronized (LOCK) {
                data = 1; // race: Figure16
            }
        }
    }

    static final class Reader extends Thread {
        int seen;

        @Override
        public void run() {
            seen = data; // race: Figure16
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
