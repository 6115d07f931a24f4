package ordered;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/**
 * Class initialisation: whoever uses a class comes after its initialiser, in
 * whichever thread that ran. It happens once, so later rounds only read.
 */
final class Initialisation {
    private Initialisation() {}

    /** Two hidden classes of one class file have the same name, and statics of their own. */
    static final class HiddenTwins implements Section {
        static final class Made implements Runnable {
            private static int count;

            @Override
            public void run() {
                for (int i = 0; i < 10; i++) count++;
                if (count % 10 != 0) throw new AssertionError(count);
            }
        }

        private static Runnable made() throws Exception {
            try (InputStream file = Initialisation.class.getResourceAsStream("Initialisation$HiddenTwins$Made.class")) {
                MethodHandles.Lookup made = MethodHandles.lookup().defineHiddenClass(file.readAllBytes(), true);
                return (Runnable) made.lookupClass().getDeclaredConstructor().newInstance();
            }
        }

        @Override
        public void run() throws Exception {
            Runnable one = made();
            Runnable two = made();
            Worker other = Worker.start(one::run);
            two.run();
            other.finish();
        }
    }

    /** The same use of a class in two threads at once. */
    abstract static class Together implements Section {
        abstract void use() throws Exception;

        @Override
        public final void run() throws Exception {
            Worker other = Worker.start(this::use);
            use();
            other.finish();
        }
    }

    private static Payload made(int n) {
        Payload data = new Payload();
        data.put(n);
        return data;
    }

    static final class Holder extends Together {
        private static final class Lazy {
            static final Payload INSTANCE = made(1);
        }

        @Override
        void use() {
            Lazy.INSTANCE.expect(1);
        }
    }

    /** Statics that are not final are published just as well, if nobody writes them later. */
    static final class StaticData extends Together {
        private static final class Tables {
            static int size;
            static final int[] SQUARES = new int[20];

            static {
                for (int i = 0; i < SQUARES.length; i++) {
                    SQUARES[i] = i * i;
                    size++;
                }
            }
        }

        @Override
        void use() {
            if (Tables.size != 20 || Tables.SQUARES[7] != 49) {
                throw new AssertionError("tables half made");
            }
        }
    }

    static final class EnumConstants extends Together {
        private enum Planet {
            MERCURY(1),
            VENUS(2);

            private int place;
            private final Payload data;

            Planet(int place) {
                this.place = place;
                data = made(place);
            }
        }

        @Override
        void use() {
            for (Planet planet : Planet.values()) {
                planet.data.expect(planet.place);
            }
        }
    }

    /** One thread is in the initialiser, slowly, when the other comes. */
    static final class OtherThread implements Section {
        private static final class Slow {
            static Payload data = made(1);

            static {
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    throw new ExceptionInInitializerError(e);
                }
                data.put(2);
            }

            static void touch() {}
        }

        @Override
        public void run() throws Exception {
            Worker first = Worker.start(Slow::touch);
            Thread.sleep(2);
            Slow.data.expect(2);
            first.finish();
        }
    }

    /** The initialiser writes to something that is not its own class's. */
    static final class SideEffect extends Together {
        private static final Payload ELSEWHERE = new Payload();

        private static final class Writer {
            static {
                ELSEWHERE.put(1);
            }

            static void touch() {}
        }

        @Override
        void use() {
            Writer.touch();
            ELSEWHERE.expect(1);
        }
    }

    /** Initialising a class initialises its superclass first. */
    static final class Superclass extends Together {
        private static class Base {
            static Payload data = made(1);
        }

        private static final class Derived extends Base {
            static Payload more = made(Base.data.state() + 1);
        }

        @Override
        void use() {
            Derived.more.expect(2);
            Base.data.expect(1);
        }
    }

    static final class InterfaceField extends Together {
        private interface Constants {
            Payload DATA = made(1);
        }

        @Override
        void use() {
            Constants.DATA.expect(1);
        }
    }

    static final class ByName extends Together {
        private static final Payload ELSEWHERE = new Payload();

        private static final class Named {
            static {
                ELSEWHERE.put(1);
            }
        }

        @Override
        void use() throws ClassNotFoundException {
            Class.forName(ByName.class.getName() + "$Named");
            ELSEWHERE.expect(1);
        }
    }

    /** An object with final fields, in a volatile: published twice over. */
    static final class FinalAndVolatile implements Section {
        private record Pair(Payload left, int[] right) {}

        private volatile Pair pair;

        @Override
        public void run() throws Exception {
            Worker maker = Worker.start(() -> {
                int[] right = {1, 2, 3};
                pair = new Pair(made(4), right);
            });
            Pair seen;
            while ((seen = pair) == null) {
                Thread.yield();
            }
            seen.left().expect(4);
            if (seen.right()[2] != 3) {
                throw new AssertionError("saw a pair half made");
            }
            maker.finish();
        }
    }

    /** Computed by whoever is first, and seen whole by the other. */
    static final class Computed extends Together {
        private final ClassValue<Payload> values = new ClassValue<>() {
            @Override
            protected Payload computeValue(Class<?> type) {
                return made(1);
            }
        };

        @Override
        void use() {
            values.get(String.class).expect(1);
        }
    }
}
