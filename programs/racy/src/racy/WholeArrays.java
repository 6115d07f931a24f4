package racy;

import java.lang.reflect.Array;
import java.util.Arrays;

/** Operations on whole arrays against an access of one element. */
final class WholeArrays {
    private WholeArrays() {}

    static final class ArraycopyFrom implements Section {
        final int[] xs = new int[8];

        @Override
        public void run() throws Exception {
            int[] mine = new int[8];
            Duel.run(
                    () -> System.arraycopy(xs, 2, mine, 0, 4), // race: arraycopy-from
                    () -> xs[3] = 1); // race: arraycopy-from
        }
    }

    static final class ArraycopyTo implements Section {
        final char[] xs = new char[8];
        char seen;

        @Override
        public void run() throws Exception {
            char[] mine = {'a', 'b', 'c', 'd'};
            Duel.run(
                    () -> System.arraycopy(mine, 0, xs, 4, 4), // race: arraycopy-to
                    () -> seen = xs[7]); // race: arraycopy-to
        }
    }

    static final class CloneArray implements Section {
        final long[] xs = new long[8];
        long[] copy;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> copy = xs.clone(), // race: clone-array
                    () -> xs[7] = 1); // race: clone-array
        }
    }

    static final class Fill implements Section {
        final byte[] xs = new byte[8];
        byte seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> Arrays.fill(xs, (byte) 7), // race: arrays-fill
                    () -> seen = xs[5]); // race: arrays-fill
        }
    }

    static final class Sort implements Section {
        final int[] xs = {3, 1, 2};
        int seen;

        @Override
        public void run() throws Exception {
            Arrays.sort(new int[] {2, 1}); // loads what sorting needs
            Duel.run(
                    () -> Arrays.sort(xs), // race: arrays-sort
                    () -> seen = xs[0]); // race: arrays-sort
        }
    }

    static final class CopyOf implements Section {
        final String[] xs = {"a", "b"};
        String[] copy;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> copy = Arrays.copyOf(xs, 4), // race: arrays-copy-of
                    () -> xs[1] = "c"); // race: arrays-copy-of
        }
    }

    static final class ArraysEquals implements Section {
        final byte[] xs = new byte[32];
        boolean same;

        @Override
        public void run() throws Exception {
            byte[] mine = new byte[32];
            same = Arrays.equals(mine, mine.clone()); // loads what comparing needs
            Duel.run(
                    () -> same = Arrays.equals(xs, mine), // race: arrays-equals
                    () -> xs[0] = 1); // race: arrays-equals
        }
    }

    /** The arrays differ before they end, and the race is before that. */
    static final class Mismatch implements Section {
        final double[] xs = new double[32];
        int at;

        @Override
        public void run() throws Exception {
            double[] mine = new double[32];
            mine[20] = 1;
            at = Arrays.mismatch(mine, mine.clone());
            Duel.run(
                    () -> at = Arrays.mismatch(xs, 4, 32, mine, 4, 32), // race: arrays-mismatch
                    () -> xs[4] = 1); // race: arrays-mismatch
        }
    }

    static final class ReflectiveGet implements Section {
        final short[] xs = new short[8];
        Object seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> seen = Array.get(xs, 3), // race: reflective-get
                    () -> xs[3] = 1); // race: reflective-get
        }
    }

    static final class ReflectiveSet implements Section {
        final float[] xs = new float[8];
        float seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> Array.setFloat(xs, 3, 1), // race: reflective-set
                    () -> seen = xs[3]); // race: reflective-set
        }
    }
}
