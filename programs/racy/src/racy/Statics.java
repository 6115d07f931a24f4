package racy;

/** Static fields. */
final class Statics {
    private Statics() {}

    static final class StaticBoolean implements Section {
        static boolean x;
        boolean seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = true, // race: static-boolean
                    () -> seen = x); // race: static-boolean
        }
    }

    static final class StaticInt implements Section {
        static int x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x++, // race: static-int
                    () -> x++); // race: static-int
        }
    }

    static final class StaticLong implements Section {
        static long x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = -1, // race: static-long
                    () -> x = 1); // race: static-long
        }
    }

    static final class StaticDouble implements Section {
        static double x;
        double seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = 0.5, // race: static-double
                    () -> seen = x); // race: static-double
        }
    }

    static final class StaticReference implements Section {
        static String x = "old";
        String seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> x = "new", // race: static-reference
                    () -> seen = x); // race: static-reference
        }
    }

    static class Base {
        static int shared;
    }

    static final class Derived extends Base {}

    /** The same static, named through the class and through a subclass. */
    static final class InheritedStatic implements Section {
        @Override
        public void run() throws Exception {
            new Derived();
            Duel.run(
                    () -> Base.shared = 1, // race: inherited-static
                    () -> Derived.shared = 2); // race: inherited-static
        }
    }
}
