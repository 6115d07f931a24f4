package racy;

/** Loops over arrays: whatever way control leaves one, all that it did counts, and nothing else. */
final class Loops {
    private Loops() {}

    /** The first thread's loop ends in an exception, past the element that the other one reads. */
    static final class LoopThatThrows implements Section {
        final int[] xs = new int[8];
        int seen;

        static void fill(int[] xs, int divisor) {
            for (int i = 0; i < xs.length; i++) {
                xs[i] = 12 / (divisor - i); // race: loop-that-throws
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        try {
                            fill(xs, 5);
                        } catch (ArithmeticException e) {
                            seen = 1;
                        }
                    },
                    () -> {
                        int[] mine = xs;
                        int sum = mine[4]; // race: loop-that-throws
                        for (int i = 5; i < mine.length; i++) {
                            mine[i] = sum; // never reached by the other loop
                        }
                    });
        }
    }

    static final class LoopThatReturns implements Section {
        final int[] xs = {0, 1, 2, 3, 4, 5};

        static int find(int[] xs, int wanted) {
            for (int i = xs.length - 1; i >= 0; i--) {
                if (xs[i] == wanted) { // race: loop-that-returns
                    return i;
                }
            }
            return -1;
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> find(xs, 3),
                    () -> {
                        xs[4] = 9; // race: loop-that-returns
                        xs[2] = 2; // not looked at
                    });
        }
    }

    /** The array is another one half way. */
    static final class LoopOverTwo implements Section {
        final long[] one = new long[6];
        final long[] two = new long[6];

        static void fill(long[] one, long[] two) {
            long[] now = one;
            for (int i = 0; i < 6; i++) {
                if (i == 3) {
                    now = two;
                }
                now[i] = i; // race: loop-over-two
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> fill(one, two),
                    () -> {
                        one[4] = 1;
                        two[1] = 1;
                        two[4] = 2; // race: loop-over-two
                    });
        }
    }

    /** Every third element, from the end. */
    static final class LoopOfStrides implements Section {
        final char[] xs = new char[10];

        static void fill(char[] xs) {
            for (int i = 9; i > 0; i -= 3) {
                xs[i] = 'x'; // race: loop-of-strides
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> fill(xs),
                    () -> {
                        xs[0] = 'a';
                        xs[2] = 'b';
                        xs[6] = 'c'; // race: loop-of-strides
                        xs[7] = 'd';
                    });
        }
    }

    /** The same element in each round. */
    static final class LoopOnOneElement implements Section {
        final int[] sums = new int[4];
        int seen;

        static void add(int[] sums, int at) {
            for (int i = 0; i < 100; i++) {
                sums[at] += i; // race: loop-on-one-element
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> add(sums, 2),
                    () -> {
                        sums[1] = 1;
                        seen = sums[2]; // race: loop-on-one-element
                    });
        }
    }

    /**
     * An element is written, then an object made whose final field leads to it, then the object is handed
     * over by a race: the other thread reads the element after the write. The loop goes on meanwhile.
     */
    static final class LoopThatFreezes implements Section {
        static final int ROUNDS = 1 << 16;

        static final class Box {
            static Box handed;
            final int[] cells;

            private Box(int[] cells) {
                this.cells = cells;
            }

            static void make(int[] cells) {
                for (int i = 0; i < ROUNDS; i++) {
                    cells[i] = i;
                    if ((i & 1023) == 1) {
                        handed = new Box(cells); // race: loop-that-freezes
                    }
                }
            }

            static int look() {
                Box box = handed; // race: loop-that-freezes
                return box == null ? 0 : box.cells[1];
            }
        }

        @Override
        public void run() throws Exception {
            int[] cells = new int[ROUNDS];
            int[] seen = new int[1];
            Box.handed = null;
            Duel.run(
                    () -> Box.make(cells),
                    () -> {
                        for (int i = 0; i < ROUNDS && seen[0] == 0; i++) {
                            seen[0] = Box.look();
                        }
                    });
        }
    }
}
