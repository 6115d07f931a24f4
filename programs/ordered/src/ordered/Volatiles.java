package ordered;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;

/** Volatile variables of each kind. */
final class Volatiles {
    private Volatiles() {}

    static final class BooleanFlag extends Baton {
        private volatile boolean up;

        @Override
        int level() {
            return up ? 1 : 0;
        }

        @Override
        void raise(int to) {
            up = true;
        }

        @Override
        int last() {
            return 1;
        }
    }

    static final class IntLevel extends Baton {
        private volatile int level;

        @Override
        int level() {
            return level;
        }

        @Override
        void raise(int to) {
            level = to;
        }
    }

    static final class LongLevel extends Baton {
        private volatile long level;

        @Override
        int level() {
            return (int) (level >>> 32);
        }

        @Override
        void raise(int to) {
            level = (long) to << 32;
        }
    }

    static final class DoubleLevel extends Baton {
        private volatile double level;

        @Override
        int level() {
            return (int) level;
        }

        @Override
        void raise(int to) {
            level = to;
        }
    }

    static final class StaticLevel extends Baton {
        private static volatile short level;

        StaticLevel() {
            level = 0;
        }

        @Override
        int level() {
            return level;
        }

        @Override
        void raise(int to) {
            level = (short) to;
        }
    }

    /** The reference is volatile; the number behind it is plain, and fresh each time. */
    static final class Reference extends Baton {
        private static final class Level {
            int value;
        }

        private volatile Level level = new Level();

        @Override
        int level() {
            return level.value;
        }

        @Override
        void raise(int to) {
            Level next = new Level();
            next.value = to;
            level = next;
        }
    }

    /** A whole array is published; its elements are plain, and never written again. */
    static final class ArrayReference extends Baton {
        private volatile int[] levels = new int[1];

        @Override
        int level() {
            int[] now = levels;
            return now[now.length - 1];
        }

        @Override
        void raise(int to) {
            int[] next = new int[to + 1];
            for (int i = 0; i <= to; i++) {
                next[i] = i;
            }
            levels = next;
        }
    }

    static class Parent {
        volatile int level;
    }

    static final class Child extends Parent {}

    /** A volatile field of a superclass of another class. */
    static final class Inherited extends Baton {
        private final Child child = new Child();

        @Override
        int level() {
            return child.level;
        }

        @Override
        void raise(int to) {
            child.level = to;
        }
    }

    /** Reflection respects what the field was declared as. */
    static final class Reflected extends Baton {
        private volatile int level;
        private final Field field;

        Reflected() throws NoSuchFieldException {
            field = Reflected.class.getDeclaredField("level");
        }

        @Override
        int level() throws IllegalAccessException {
            return field.getInt(this);
        }

        @Override
        void raise(int to) throws IllegalAccessException {
            field.setInt(this, to);
        }
    }

    /** Read and written by method handles, as reflection does in later JDKs. */
    static final class MethodHandled extends Baton {
        private volatile int level;
        private final MethodHandle getter;
        private final MethodHandle setter;

        MethodHandled() throws ReflectiveOperationException {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            getter = lookup.findGetter(MethodHandled.class, "level", int.class);
            setter = lookup.findSetter(MethodHandled.class, "level", int.class);
        }

        @Override
        int level() throws Exception {
            try {
                return (int) getter.invokeExact(this);
            } catch (Throwable e) {
                throw new Exception(e);
            }
        }

        @Override
        void raise(int to) throws Exception {
            try {
                setter.invokeExact(this, to);
            } catch (Throwable e) {
                throw new Exception(e);
            }
        }
    }

    static final class DoubleCheckedLocking implements Section {
        private volatile Payload instance;

        private Payload instance() {
            Payload seen = instance;
            if (seen == null) {
                synchronized (this) {
                    seen = instance;
                    if (seen == null) {
                        seen = new Payload();
                        seen.put(1);
                        instance = seen;
                    }
                }
            }
            return seen;
        }

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> instance().expect(1));
            instance().expect(1);
            other.finish();
        }
    }

    /** The volatile is read and written by turns: later readers see all earlier writers. */
    static final class Piggyback implements Section {
        private final Payload first = new Payload();
        private final Payload second = new Payload();
        private volatile int stage;

        @Override
        public void run() throws Exception {
            Worker one = Worker.start(() -> {
                first.put(1);
                stage = 1;
            });
            Worker two = Worker.start(() -> {
                while (stage != 1) {
                    Thread.yield();
                }
                second.put(2);
                stage = 2;
            });
            while (stage != 2) {
                Thread.yield();
            }
            first.expect(1);
            second.expect(2);
            one.finish();
            two.finish();
        }
    }
}
