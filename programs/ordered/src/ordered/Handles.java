package ordered;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/** Variable handles in their access modes, fences, and the freeze of final fields. */
final class Handles {
    private Handles() {}

    /** The field is not declared volatile; every access of it is. */
    static final class VolatileField extends Baton {
        private static final VarHandle LEVEL = field(VolatileField.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getVolatile(this);
        }

        @Override
        void raise(int to) {
            LEVEL.setVolatile(this, to);
        }
    }

    static final class DeclaredVolatile extends Baton {
        private static final VarHandle LEVEL = field(DeclaredVolatile.class, "level", int.class);
        private volatile int level;

        @Override
        int level() {
            return level;
        }

        @Override
        void raise(int to) {
            LEVEL.setVolatile(this, to);
        }
    }

    static final class AcquireRelease extends Baton {
        private static final VarHandle LEVEL = field(AcquireRelease.class, "level", long.class);
        private long level;

        @Override
        int level() {
            return (int) (long) LEVEL.getAcquire(this);
        }

        @Override
        void raise(int to) {
            LEVEL.setRelease(this, (long) to);
        }
    }

    static final class CompareAndSet extends Baton {
        private static final VarHandle LEVEL = field(CompareAndSet.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getVolatile(this);
        }

        @Override
        void raise(int to) {
            if (!LEVEL.compareAndSet(this, to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    static final class WeakCompareAndSet extends Baton {
        private static final VarHandle LEVEL = field(WeakCompareAndSet.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getAcquire(this);
        }

        @Override
        void raise(int to) {
            while (!LEVEL.weakCompareAndSetRelease(this, to - 1, to)) {
                Thread.onSpinWait();
            }
        }
    }

    static final class GetAndAdd extends Baton {
        private static final VarHandle LEVEL = field(GetAndAdd.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getAndAdd(this, 0);
        }

        @Override
        void raise(int to) {
            int unused = (int) LEVEL.getAndAdd(this, 1);
        }
    }

    static final class GetAndAddRelease extends Baton {
        private static final VarHandle LEVEL = field(GetAndAddRelease.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getAndAddAcquire(this, 0);
        }

        @Override
        void raise(int to) {
            int unused = (int) LEVEL.getAndAddRelease(this, 1);
        }
    }

    static final class GetAndBitwise extends Baton {
        private static final VarHandle LEVEL = field(GetAndBitwise.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.getAndBitwiseOr(this, 0) >> 1;
        }

        @Override
        void raise(int to) {
            int unused = (int) LEVEL.getAndBitwiseXor(this, (to - 1) << 1 ^ to << 1);
        }
    }

    static final class Exchange extends Baton {
        private static final VarHandle LEVEL = field(Exchange.class, "level", int.class);
        private int level;

        @Override
        int level() {
            return (int) LEVEL.compareAndExchangeAcquire(this, -1, -1);
        }

        @Override
        void raise(int to) {
            int unused = (int) LEVEL.compareAndExchangeRelease(this, to - 1, to);
        }
    }

    static final class StaticField extends Baton {
        private static final VarHandle LEVEL = staticField(StaticField.class, "level", int.class);
        private static int level;

        StaticField() {
            LEVEL.setRelease(0);
        }

        @Override
        int level() {
            return (int) LEVEL.getAcquire();
        }

        @Override
        void raise(int to) {
            LEVEL.setRelease(to);
        }
    }

    static final class ReferenceField extends Baton {
        private static final VarHandle LEVEL = field(ReferenceField.class, "level", Integer.class);
        private Integer level = 0;

        @Override
        int level() {
            return (Integer) LEVEL.getVolatile(this);
        }

        @Override
        void raise(int to) {
            Integer unused = (Integer) LEVEL.getAndSet(this, (Integer) to);
        }
    }

    static final class IntElement extends Baton {
        private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
        private final int[] levels = new int[3];

        @Override
        int level() {
            return (int) ELEMENT.getVolatile(levels, 1);
        }

        @Override
        void raise(int to) {
            ELEMENT.setVolatile(levels, 1, to);
        }
    }

    static final class IntElementCas extends Baton {
        private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
        private final int[] levels = new int[3];

        @Override
        int level() {
            return (int) ELEMENT.getAcquire(levels, 2);
        }

        @Override
        void raise(int to) {
            if (!ELEMENT.compareAndSet(levels, 2, to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    static final class ReferenceElement extends Baton {
        private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
        private final Object[] levels = {0, 0};

        @Override
        int level() {
            return (int) (Object) ELEMENT.getAcquire(levels, 1);
        }

        @Override
        void raise(int to) {
            ELEMENT.setRelease(levels, 1, (Object) to);
        }
    }

    /** Opaque accesses order nothing; the fences beside them do. */
    static final class ReleaseFence extends Baton {
        private static final VarHandle LEVEL = field(ReleaseFence.class, "level", int.class);
        private int level;

        @Override
        int level() {
            int seen = (int) LEVEL.getOpaque(this);
            VarHandle.acquireFence();
            return seen;
        }

        @Override
        void raise(int to) {
            VarHandle.releaseFence();
            LEVEL.setOpaque(this, to);
        }
    }

    static final class FullFence extends Baton {
        private static final VarHandle LEVEL = field(FullFence.class, "level", int.class);
        private int level;

        @Override
        int level() {
            int seen = (int) LEVEL.getOpaque(this);
            VarHandle.fullFence();
            return seen;
        }

        @Override
        void raise(int to) {
            VarHandle.fullFence();
            LEVEL.setOpaque(this, to);
        }
    }

    /**
     * The reference travels without order, in opaque mode. What its object's final
     * fields lead to was finished before the constructor ended, and is seen so.
     */
    static final class FinalFields implements Section {
        private static final VarHandle BOX = field(FinalFields.class, "box", Box.class);
        private Box box;

        private static final class Box {
            private final int number;
            private final int[] cells;
            private final List<Integer> list = new ArrayList<>();

            Box(int n) {
                number = n;
                cells = new int[n];
                for (int i = 0; i < n; i++) {
                    cells[i] = i;
                    list.add(i);
                }
            }

            void expect(int n) {
                boolean whole = number == n && cells.length == n && list.size() == n;
                for (int i = 0; whole && i < n; i++) {
                    whole = cells[i] == i && list.get(i) == i;
                }
                if (!whole) {
                    throw new AssertionError("saw a box half made");
                }
            }
        }

        @Override
        public void run() throws Exception {
            Worker maker = Worker.start(() -> BOX.setOpaque(this, new Box(5)));
            Box seen;
            while ((seen = (Box) BOX.getOpaque(this)) == null) {
                Thread.yield();
            }
            seen.expect(5);
            maker.finish();
        }
    }

    /** The same for a record, whose fields are all final. */
    static final class RecordFields implements Section {
        private static final VarHandle PAIR = field(RecordFields.class, "pair", Pair.class);
        private Pair pair;

        private record Pair(String name, long[] values) {}

        @Override
        public void run() throws Exception {
            Worker maker = Worker.start(() -> {
                long[] values = {1, 2, 3};
                PAIR.setOpaque(this, new Pair("three", values));
            });
            Pair seen;
            while ((seen = (Pair) PAIR.getOpaque(this)) == null) {
                Thread.yield();
            }
            if (seen.values()[2] != 3 || !seen.name().equals("three")) {
                throw new AssertionError("saw a record half made");
            }
            maker.finish();
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

    /** What the maker had from a third thread comes along. */
    static final class FinalFieldOfThird implements Section {
        private static final VarHandle BOX = field(FinalFieldOfThird.class, "box", Box.class);
        private final Payload data = new Payload();
        private volatile boolean written;
        private Box box;

        private static final class Box {
            private final Payload inside;

            Box(Payload inside) {
                this.inside = inside;
            }

            void expect(int n) {
                inside.expect(n);
            }
        }

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                written = true;
            });
            Worker maker = Worker.start(() -> {
                while (!written) {
                    Thread.yield();
                }
                BOX.setOpaque(this, new Box(data));
            });
            Box seen;
            while ((seen = (Box) BOX.getOpaque(this)) == null) {
                Thread.yield();
            }
            seen.expect(1);
            writer.finish();
            maker.finish();
        }
    }
}
