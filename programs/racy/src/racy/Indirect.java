package racy;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;

/** Accesses that no getfield or putfield of ours shows. */
final class Indirect {
    private Indirect() {}

    static final class ReflectionField implements Section {
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Field field = ReflectionField.class.getDeclaredField("x");
            field.setInt(this, field.getInt(this)); // makes the accessors
            Duel.run(
                    () -> field.setInt(this, 1), // race: reflection-field
                    () -> seen = field.getInt(this)); // race: reflection-field
        }
    }

    static final class ReflectionAgainstPlain implements Section {
        static Object x;
        Object seen;

        @Override
        public void run() throws Exception {
            Field field = ReflectionAgainstPlain.class.getDeclaredField("x");
            field.set(null, field.get(null));
            Duel.run(
                    () -> field.set(null, "new"), // race: reflection-static
                    () -> seen = x); // race: reflection-static
        }
    }

    static final class MethodHandleField implements Section {
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle get = lookup.findGetter(MethodHandleField.class, "x", int.class);
            MethodHandle set = lookup.findSetter(MethodHandleField.class, "x", int.class);
            write(set, read(get)); // makes their code
            Duel.run(
                    () -> write(set, 1),
                    () -> seen = read(get));
        }

        private int read(MethodHandle get) throws Exception {
            try {
                return (int) get.invokeExact(this); // race: methodhandle-field
            } catch (Throwable e) {
                throw new Exception(e);
            }
        }

        private void write(MethodHandle set, int value) throws Exception {
            try {
                set.invokeExact(this, value); // race: methodhandle-field
            } catch (Throwable e) {
                throw new Exception(e);
            }
        }
    }

    static final class VarHandleField implements Section {
        private static final VarHandle X = field(VarHandleField.class, "x", int.class);

        int x;
        int seen;

        @Override
        public void run() throws Exception {
            X.set(this, (int) X.get(this)); // links the handle
            Duel.run(
                    () -> X.set(this, 1), // race: varhandle-field
                    () -> seen = (int) X.get(this)); // race: varhandle-field
        }
    }

    static final class VarHandleStatic implements Section {
        private static final VarHandle X = staticField(VarHandleStatic.class, "x", long.class);

        static long x;

        @Override
        public void run() throws Exception {
            X.set((long) X.get());
            Duel.run(
                    () -> X.set(1L), // race: varhandle-static
                    () -> x = 2); // race: varhandle-static
        }
    }

    static final class VarHandleElement implements Section {
        private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(double[].class);

        final double[] xs = new double[4];
        double seen;

        @Override
        public void run() throws Exception {
            ELEMENT.set(xs, 0, (double) ELEMENT.get(xs, 0));
            Duel.run(
                    () -> ELEMENT.set(xs, 2, 0.5), // race: varhandle-element
                    () -> seen = (double) ELEMENT.get(xs, 2)); // race: varhandle-element
        }
    }

    /** A release store on one side does not help a plain load on the other. */
    static final class VarHandleHalf implements Section {
        private static final VarHandle X = field(VarHandleHalf.class, "x", int.class);

        int x;
        int seen;

        @Override
        public void run() throws Exception {
            X.setRelease(this, 0);
            Duel.run(
                    () -> X.setRelease(this, 1), // race: varhandle-half
                    () -> seen = x); // race: varhandle-half
        }
    }

    /** An opaque flag carries no order for the data behind it. */
    static final class VarHandleOpaque implements Section {
        private static final VarHandle READY = field(VarHandleOpaque.class, "ready", boolean.class);

        boolean ready;
        int data;
        int seen;

        @Override
        public void run() throws Exception {
            READY.setOpaque(this, (boolean) READY.getOpaque(this));
            Duel.run(
                    () -> {
                        data = 1; // race: varhandle-opaque
                        READY.setOpaque(this, true);
                    },
                    () -> {
                        while (!(boolean) READY.getOpaque(this)) {
                            Thread.yield();
                        }
                        seen = data; // race: varhandle-opaque
                    });
        }
    }

    /** A constructor called by reflection counts in a plain static. */
    static final class ReflectiveConstructor implements Section {
        static int made;

        static final class Counted {
            Counted() {
                made++; // race: reflective-constructor
            }
        }

        @Override
        public void run() throws Exception {
            var constructor = Counted.class.getDeclaredConstructor();
            constructor.newInstance();
            Duel.run(constructor::newInstance, constructor::newInstance);
        }
    }

    private static VarHandle field(Class<?> owner, String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static VarHandle staticField(Class<?> owner, String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findStaticVarHandle(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
