package racy;

/** Elements of arrays of every type, and an element and a row of a nested one. */
final class Elements {
    private Elements() {}

    static final class BooleanArray implements Section {
        final boolean[] xs = new boolean[3];
        boolean seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = true, // race: boolean-array
                    () -> seen = xs[1]); // race: boolean-array
        }
    }

    static final class ByteArray implements Section {
        final byte[] xs = new byte[3];

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 1, // race: byte-array
                    () -> xs[1] = 2); // race: byte-array
        }
    }

    static final class CharArray implements Section {
        final char[] xs = new char[3];
        char seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 'a', // race: char-array
                    () -> seen = xs[1]); // race: char-array
        }
    }

    static final class ShortArray implements Section {
        final short[] xs = new short[3];
        short seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 1, // race: short-array
                    () -> seen = xs[1]); // race: short-array
        }
    }

    static final class IntArray implements Section {
        final int[] xs = new int[3];

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1]++, // race: int-array
                    () -> xs[1]++); // race: int-array
        }
    }

    static final class LongArray implements Section {
        final long[] xs = new long[3];
        long seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 1L << 40, // race: long-array
                    () -> seen = xs[1]); // race: long-array
        }
    }

    static final class FloatArray implements Section {
        final float[] xs = new float[3];
        float seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 1.5f, // race: float-array
                    () -> seen = xs[1]); // race: float-array
        }
    }

    static final class DoubleArray implements Section {
        final double[] xs = new double[3];

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = 1.5, // race: double-array
                    () -> xs[1] = 2); // race: double-array
        }
    }

    static final class ReferenceArray implements Section {
        final String[] xs = new String[3];
        String seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[1] = "new", // race: reference-array
                    () -> seen = xs[1]); // race: reference-array
        }
    }

    static final class NestedElement implements Section {
        final int[][] rows = new int[2][2];

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> rows[1][0] = 1, // race: nested-element
                    () -> rows[1][0] = 2); // race: nested-element
        }
    }

    static final class NestedRow implements Section {
        final int[][] rows = new int[2][2];
        int seen;

        @Override
        public void run() throws Exception {
            int[] row = {1, 2};
            Duel.run(
                    () -> rows[1] = row, // race: nested-row
                    () -> seen = rows[1].length); // race: nested-row
        }
    }

    /** Neighbours do not race; the one element that both touch does. */
    static final class OneOfMany implements Section {
        final long[] xs = new long[8];

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        for (int i = 0; i <= 4; i++) {
                            xs[i] = i; // race: one-of-many
                        }
                    },
                    () -> {
                        for (int i = 4; i < 8; i++) {
                            xs[i] = i; // race: one-of-many
                        }
                    });
        }
    }
}
