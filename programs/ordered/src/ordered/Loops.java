package ordered;

/** Loops over arrays that threads share by parts, or hand over element by element. */
final class Loops {
    private static final int SIZE = 64;

    private Loops() {}

    private static void expect(int[] xs, int first, int end) {
        for (int i = first; i < end; i++) {
            if (xs[i] != i + 1) {
                throw new IllegalStateException(i + " holds " + xs[i]);
            }
        }
    }

    private static void fill(int[] xs, int first, int end, int stride) {
        for (int i = first; i != end; i += stride) {
            xs[i] = i + 1;
        }
    }

    /** Each thread has a half; one walks upwards, one downwards. */
    static final class Halves implements Section {
        @Override
        public void run() throws Exception {
            int[] xs = new int[SIZE];
            Worker worker = Worker.start(() -> {
                for (int i = SIZE - 1; i >= SIZE / 2; i--) {
                    xs[i] = i + 1;
                }
                expect(xs, SIZE / 2, SIZE);
            });
            fill(xs, 0, SIZE / 2, 1);
            expect(xs, 0, SIZE / 2);
            worker.finish();
            expect(xs, 0, SIZE);
        }
    }

    /** One has the even elements, one the odd ones. */
    static final class EvenAndOdd implements Section {
        @Override
        public void run() throws Exception {
            int[] xs = new int[SIZE];
            Worker worker = Worker.start(() -> fill(xs, 1, SIZE + 1, 2));
            fill(xs, 0, SIZE, 2);
            worker.finish();
            expect(xs, 0, SIZE);
        }
    }

    /** Each has rows of its own. */
    static final class Rows implements Section {
        @Override
        public void run() throws Exception {
            int[][] rows = new int[4][SIZE];
            Worker worker = Worker.start(() -> {
                for (int row = 1; row < 4; row += 2) {
                    fill(rows[row], 0, SIZE, 1);
                }
            });
            for (int row = 0; row < 4; row += 2) {
                fill(rows[row], 0, SIZE, 1);
            }
            worker.finish();
            for (int[] row : rows) {
                expect(row, 0, SIZE);
            }
        }
    }

    /** A volatile says how far the writer is; the loops go on. */
    static final class Counted implements Section {
        private final int[] xs = new int[SIZE];
        private volatile int done;

        private void produce() {
            for (int i = 0; i < SIZE; i++) {
                xs[i] = i + 1;
                done = i + 1;
            }
        }

        private void consume() {
            for (int i = 0; i < SIZE; i++) {
                while (done <= i) {
                    Thread.yield();
                }
                expect(xs, i, i + 1);
                xs[i] = -1;
            }
        }

        @Override
        public void run() throws Exception {
            Worker worker = Worker.start(this::produce);
            consume();
            worker.finish();
        }
    }

    /** Threads take turns on all elements, a lock around each access. */
    static final class Locked implements Section {
        private final int[] sums = new int[SIZE];

        private void add() {
            int[] sums = this.sums;
            for (int i = 0; i < SIZE; i++) {
                synchronized (this) {
                    sums[i]++;
                }
            }
        }

        @Override
        public void run() throws Exception {
            Worker worker = Worker.start(this::add);
            add();
            worker.finish();
        }
    }

    /** The same by a method of the class that takes the lock. */
    static final class LockedInside implements Section {
        private final int[] sums = new int[SIZE];

        private synchronized int next(int i) {
            return ++sums[i];
        }

        private void add() {
            for (int i = 0; i < SIZE; i++) {
                next(i);
            }
        }

        @Override
        public void run() throws Exception {
            Worker worker = Worker.start(this::add);
            add();
            worker.finish();
        }
    }

    /** A loop ends in an exception; who gets the lock next has all that it did, and the rest is free. */
    static final class Thrown implements Section {
        private final Object lock = new Object();
        private final int[] xs = new int[SIZE];
        private boolean done;

        private static void fillTo(int[] xs, int last) {
            for (int i = 0; i <= last; i++) {
                xs[i] = i + 1;
            }
        }

        @Override
        public void run() throws Exception {
            int[] half = new int[SIZE / 2];
            Worker worker = Worker.start(() -> {
                try {
                    synchronized (lock) {
                        done = true;
                        fillTo(half, SIZE);
                    }
                } catch (ArrayIndexOutOfBoundsException e) {
                    fill(xs, SIZE / 2, SIZE, 1);
                }
            });
            fill(xs, 0, SIZE / 2, 1);
            boolean seen = false;
            while (!seen) {
                synchronized (lock) {
                    seen = done;
                }
                Thread.yield();
            }
            expect(half, 0, SIZE / 2);
            fill(half, 0, SIZE / 2, 1);
            worker.finish();
            expect(xs, 0, SIZE);
        }
    }

    /** The loop is left by a return, with a lock around the method. */
    static final class Returned implements Section {
        private final int[] xs = new int[SIZE];

        private synchronized int claim() {
            int[] xs = this.xs;
            for (int i = 0; i < SIZE; i++) {
                if (xs[i] == 0) {
                    xs[i] = 1;
                    return i;
                }
            }
            return -1;
        }

        private void claimAll() {
            while (claim() >= 0) {
                Thread.yield();
            }
        }

        @Override
        public void run() throws Exception {
            Worker worker = Worker.start(this::claimAll);
            claimAll();
            worker.finish();
        }
    }
}
