package racy;

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
}
