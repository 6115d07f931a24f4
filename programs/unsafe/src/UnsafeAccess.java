import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;

/**
 * Accesses through sun.misc.Unsafe: plain ones that race, and ordered ones that
 * do not. A program by itself because the compiler warns about this class in a
 * way that only a hidden option silences.
 */
public final class UnsafeAccess {
    private static final sun.misc.Unsafe UNSAFE = unsafe();

    interface Section {
        void run() throws Exception;
    }

    private UnsafeAccess() {}

    static final class PlainField implements Section {
        private static final long X = offset(PlainField.class, "x");
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            duel(
                    () -> UNSAFE.putInt(this, X, 1), // race: plain-field
                    () -> seen = x); // race: plain-field
        }
    }

    static final class PlainReference implements Section {
        private static final long X = offset(PlainReference.class, "x");
        Object x;
        Object seen;

        @Override
        public void run() throws Exception {
            duel(
                    () -> UNSAFE.putObject(this, X, "new"), // race: plain-reference
                    () -> seen = UNSAFE.getObject(this, X)); // race: plain-reference
        }
    }

    static final class PlainElement implements Section {
        final long[] xs = new long[4];
        long seen;

        @Override
        public void run() throws Exception {
            long third = sun.misc.Unsafe.ARRAY_LONG_BASE_OFFSET + 2L * sun.misc.Unsafe.ARRAY_LONG_INDEX_SCALE;
            duel(
                    () -> UNSAFE.putLong(xs, third, 1), // race: plain-element
                    () -> seen = xs[2]); // race: plain-element
        }
    }

    /** The field is not declared volatile, but every access of it is. */
    static final class VolatileFlag implements Section {
        private static final long READY = offset(VolatileFlag.class, "ready");
        int ready;
        int data;
        int seen;

        @Override
        public void run() throws Exception {
            duel(
                    () -> {
                        data = 1;
                        UNSAFE.putIntVolatile(this, READY, 1);
                    },
                    () -> {
                        while (UNSAFE.getIntVolatile(this, READY) == 0) {
                            Thread.yield();
                        }
                        seen = data;
                    });
            check(seen == 1);
        }
    }

    /** The flag is in memory that the collector does not know. */
    static final class OffHeapFlag implements Section {
        int data;
        int seen;

        @Override
        public void run() throws Exception {
            long flag = UNSAFE.allocateMemory(4);
            UNSAFE.putInt(flag, 0);
            duel(
                    () -> {
                        data = 1;
                        UNSAFE.putIntVolatile(null, flag, 1);
                    },
                    () -> {
                        while (UNSAFE.getIntVolatile(null, flag) == 0) {
                            Thread.yield();
                        }
                        seen = data;
                    });
            check(seen == 1);
            UNSAFE.freeMemory(flag);
        }
    }

    static final class OrderedStore implements Section {
        private static final long READY = offset(OrderedStore.class, "ready");
        volatile int ready;
        int data;
        int seen;

        @Override
        public void run() throws Exception {
            duel(
                    () -> {
                        data = 1;
                        UNSAFE.putOrderedInt(this, READY, 1);
                    },
                    () -> {
                        while (ready == 0) {
                            Thread.yield();
                        }
                        seen = data;
                    });
            check(seen == 1);
        }
    }

    /** A spin lock made of compare-and-swap. */
    static final class CompareAndSwap implements Section {
        private static final long LOCK = offset(CompareAndSwap.class, "lock");
        int lock;
        int count;

        void increment() {
            for (int i = 0; i < 100; i++) {
                while (!UNSAFE.compareAndSwapInt(this, LOCK, 0, 1)) {
                    Thread.yield();
                }
                count++;
                UNSAFE.putIntVolatile(this, LOCK, 0);
            }
        }

        @Override
        public void run() throws Exception {
            duel(this::increment, this::increment);
            check(count == 200);
        }
    }

    static final class GetAndAdd implements Section {
        private static final long TICKET = offset(GetAndAdd.class, "ticket");
        int ticket;
        int data;
        int seen;

        @Override
        public void run() throws Exception {
            duel(
                    () -> {
                        data = 1;
                        UNSAFE.getAndAddInt(this, TICKET, 1);
                    },
                    () -> {
                        while (UNSAFE.getAndAddInt(this, TICKET, 0) == 0) {
                            Thread.yield();
                        }
                        seen = data;
                    });
            check(seen == 1);
        }
    }

    public static void main(String[] args) throws Exception {
        Map<String, Section> all = new LinkedHashMap<>();
        all.put("plain-field", new PlainField());
        all.put("plain-reference", new PlainReference());
        all.put("plain-element", new PlainElement());
        all.put("volatile-flag", new VolatileFlag());
        all.put("off-heap-flag", new OffHeapFlag());
        all.put("ordered-store", new OrderedStore());
        all.put("compare-and-swap", new CompareAndSwap());
        all.put("get-and-add", new GetAndAdd());
        for (String name : args.length == 0 ? all.keySet().toArray(new String[0]) : args) {
            all.get(name).run();
            System.out.println("done " + name);
        }
    }

    /** Two threads that start on their bodies together, with nothing ordering them from there on. */
    private static void duel(Runnable first, Runnable second) throws Exception {
        CyclicBarrier gate = new CyclicBarrier(2);
        Thread a = new Thread(() -> pass(gate, first), "first");
        Thread b = new Thread(() -> pass(gate, second), "second");
        a.start();
        b.start();
        a.join();
        b.join();
    }

    private static void pass(CyclicBarrier gate, Runnable body) {
        try {
            gate.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        body.run();
    }

    private static void check(boolean held) {
        if (!held) {
            throw new AssertionError("not in order");
        }
    }

    private static long offset(Class<?> owner, String name) {
        try {
            return UNSAFE.objectFieldOffset(owner.getDeclaredField(name));
        } catch (NoSuchFieldException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static sun.misc.Unsafe unsafe() {
        try {
            Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
