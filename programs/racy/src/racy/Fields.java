package racy;

/**
 * Instance fields of every type. Most have a write against a read, some a write
 * against a write, one an increment on both sides.
 */
final class Fields {
    private Fields() {}

    static final class BooleanField implements Section {
        boolean x;
        boolean seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = true, // race: boolean-field
                    () -> seen = x); // race: boolean-field
        }
    }

    static final class ByteField implements Section {
        byte x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 1, // race: byte-field
                    () -> x = 2); // race: byte-field
        }
    }

    static final class CharField implements Section {
        char x;
        char seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 'a', // race: char-field
                    () -> seen = x); // race: char-field
        }
    }

    static final class ShortField implements Section {
        short x;
        short seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 1, // race: short-field
                    () -> seen = x); // race: short-field
        }
    }

    static final class IntField implements Section {
        int x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x++, // race: int-field
                    () -> x++); // race: int-field
        }
    }

    static final class LongField implements Section {
        long x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 1L << 40, // race: long-field
                    () -> x = 2); // race: long-field
        }
    }

    static final class FloatField implements Section {
        float x;
        float seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 1.5f, // race: float-field
                    () -> seen = x); // race: float-field
        }
    }

    static final class DoubleField implements Section {
        double x;
        double seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 1.5, // race: double-field
                    () -> seen = x); // race: double-field
        }
    }

    static final class ReferenceField implements Section {
        Object x;
        Object seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = "new", // race: reference-field
                    () -> seen = x); // race: reference-field
        }
    }
}
