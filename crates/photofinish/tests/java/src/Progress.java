/**
 * Two threads that work for ever and say how far they have come; main waits for them
 * and does nothing. A worker's step is a write of {@code left} and one of
 * {@code right}; it takes a lock of its own whenever it says something.
 */
final class Progress {
    static final int SAY = 1_000;

    static int raced;

    static final class Worker extends Thread {
        int left;
        int right;
        private final Object lock = new Object();

        Worker(String name) {
            super(name);
        }

        @Override
        public void run() {
            raced = 1;
            for (int step = 1; ; step++) {
                left = step;
                right = step;
                if (step % SAY == 0) {
                    synchronized (lock) {
                        System.out.println(getName() + " " + step);
                    }
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Worker one = new Worker("one");
        Worker two = new Worker("two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
