package racy;

/** Objects that reach another thread before, or without, being finished. */
final class Publication {
    private Publication() {}

    /** The constructor puts "this" into a plain static. */
    static final class UnsafePublication implements Section {
        static Leaky latest;
        int seen;

        static final class Leaky {
            int x;

            Leaky() {
                latest = this; // race: unsafe-publication
                x = 1; // race: unsafe-publication
            }
        }

        @Override
        public void run() throws Exception {
            new Leaky();
            latest = null;
            Duel.run(
                    Leaky::new,
                    () -> {
                        Leaky leaky = latest; // race: unsafe-publication
                        if (leaky != null) {
                            seen = leaky.x; // race: unsafe-publication
                        }
                    });
        }
    }

    /** The static is volatile now; what the constructor does afterwards is still in the open. */
    static final class ThisEscape implements Section {
        static volatile Leaky latest;
        int seen;

        static final class Leaky {
            int x;

            Leaky() {
                latest = this;
                x = 1; // race: this-escape
            }
        }

        @Override
        public void run() throws Exception {
            new Leaky();
            latest = null;
            Duel.run(
                    Leaky::new,
                    () -> {
                        while (latest == null) {
                            Thread.yield();
                        }
                        seen = latest.x; // race: this-escape
                    });
        }
    }

    static final class VolatileArray implements Section {
        volatile int[] xs = new int[4];
        int seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> xs[0] = 1, // race: volatile-array
                    () -> seen = xs[0]); // race: volatile-array
        }
    }

    /** Final means that the reference stays, not what it refers to. */
    static final class FinalArray implements Section {
        static final class Box {
            final int[] cells;

            Box(int size) {
                cells = new int[size];
            }
        }

        volatile Box box;
        int seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        Box mine = new Box(4);
                        mine.cells[0] = 1; // before publication: in order
                        box = mine;
                        mine.cells[1] = 2; // race: final-array
                    },
                    () -> {
                        while (box == null) {
                            Thread.yield();
                        }
                        seen = box.cells[0];
                        seen = box.cells[1]; // race: final-array
                    });
        }
    }

    static final class RecordArray implements Section {
        record Samples(String name, double[] values) {}

        double seen;

        @Override
        public void run() throws Exception {
            Samples samples = new Samples("load", new double[4]);
            Duel.run(
                    () -> samples.values()[0] = 0.5, // race: record-array
                    () -> seen = samples.values()[0]); // race: record-array
        }
    }

    static final class MissingVolatile implements Section {
        boolean stop;
        int rounds;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> stop = true, // race: missing-volatile
                    () -> {
                        while (!stop && rounds < 1000) { // race: missing-volatile
                            rounds++;
                        }
                    });
        }
    }

    static final class LazyInit implements Section {
        static Object instance;

        static Object instance() {
            if (instance == null) { // race: lazy-init
                instance = new Object(); // race: lazy-init
            }
            return instance; // race: lazy-init
        }

        @Override
        public void run() throws Exception {
            Duel.run(LazyInit::instance, LazyInit::instance);
        }
    }

    /** Whoever comes second reads the field before it takes the lock, if it takes it at all. */
    static final class DoubleChecked implements Section {
        static final Object LOCK = new Object();
        static Object instance;

        static Object instance() {
            if (instance == null) { // race: double-checked
                synchronized (LOCK) {
                    if (instance == null) {
                        instance = new Object(); // race: double-checked
                    }
                }
            }
            return instance; // race: double-checked
        }

        @Override
        public void run() throws Exception {
            Duel.run(DoubleChecked::instance, DoubleChecked::instance);
        }
    }

    /** The string's hash idiom on a field of our own: harmless perhaps, a race all the same. */
    static final class CachedHash implements Section {
        int hash;

        int hash() {
            int h = hash; // race: cached-hash
            if (h == 0) {
                h = 42;
                hash = h; // race: cached-hash
            }
            return h;
        }

        @Override
        public void run() throws Exception {
            Duel.run(this::hash, this::hash);
        }
    }
}
