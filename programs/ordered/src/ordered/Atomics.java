package ordered;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** The classes of java.util.concurrent.atomic, in their various modes. */
final class Atomics {
    private Atomics() {}

    static final class IntegerSet extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            level.set(to);
        }
    }

    static final class IntegerCas extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            if (!level.compareAndSet(to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    /** Adding nothing is a write as well, and reads what it replaces. */
    static final class IntegerGetAndAdd extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.getAndAdd(0);
        }

        @Override
        void raise(int to) {
            level.getAndAdd(1);
        }
    }

    static final class IntegerIncrement extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            level.incrementAndGet();
        }
    }

    static final class IntegerUpdate extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.updateAndGet(n -> n);
        }

        @Override
        void raise(int to) {
            level.accumulateAndGet(to, Math::max);
        }
    }

    static final class LazySet extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            level.lazySet(to);
        }
    }

    static final class ReleaseAcquire extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.getAcquire();
        }

        @Override
        void raise(int to) {
            level.setRelease(to);
        }
    }

    /** May fail for no reason, so it is tried until it does not. */
    static final class WeakCasVolatile extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            while (!level.weakCompareAndSetVolatile(to - 1, to)) {
                Thread.onSpinWait();
            }
        }
    }

    static final class WeakCasRelease extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.getAcquire();
        }

        @Override
        void raise(int to) {
            while (!level.weakCompareAndSetRelease(to - 1, to)) {
                Thread.onSpinWait();
            }
        }
    }

    /** An exchange that fails is still a volatile read. */
    static final class CompareAndExchange extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.compareAndExchange(-1, -1);
        }

        @Override
        void raise(int to) {
            level.compareAndExchange(to - 1, to);
        }
    }

    static final class CompareAndExchangeRelease extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            return level.compareAndExchangeAcquire(-1, -1);
        }

        @Override
        void raise(int to) {
            level.compareAndExchangeRelease(to - 1, to);
        }
    }

    /** Reads only by compare-and-set, most of which fail. */
    static final class FailedCas extends Baton {
        private final AtomicInteger level = new AtomicInteger();

        @Override
        int level() {
            for (int n = 0; n <= last(); n++) {
                if (level.compareAndSet(n, n)) {
                    return n;
                }
            }
            throw new AssertionError("out of range");
        }

        @Override
        void raise(int to) {
            level.set(to);
        }
    }

    static final class LongGetAndSet extends Baton {
        private final AtomicLong level = new AtomicLong();

        @Override
        int level() {
            return (int) level.get();
        }

        @Override
        void raise(int to) {
            level.getAndSet(to);
        }
    }

    static final class BooleanCas extends Baton {
        private final AtomicBoolean up = new AtomicBoolean();

        @Override
        int level() {
            return up.get() ? 1 : 0;
        }

        @Override
        void raise(int to) {
            if (!up.compareAndSet(false, true)) {
                throw new AssertionError("somebody else raised it");
            }
        }

        @Override
        int last() {
            return 1;
        }
    }

    static final class ReferenceCas extends Baton {
        private final AtomicReference<Integer> level = new AtomicReference<>(0);

        @Override
        int level() {
            return level.get();
        }

        @Override
        void raise(int to) {
            if (!level.compareAndSet(level.get(), to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    /** What the reference leads to is plain, and fresh each time. */
    static final class ReferenceGetAndSet extends Baton {
        private final AtomicReference<int[]> level = new AtomicReference<>(new int[1]);

        @Override
        int level() {
            return level.get()[0];
        }

        @Override
        void raise(int to) {
            int[] next = {to};
            level.getAndSet(next);
        }
    }

    static final class IntegerArray extends Baton {
        private final AtomicIntegerArray levels = new AtomicIntegerArray(3);

        @Override
        int level() {
            return levels.get(1);
        }

        @Override
        void raise(int to) {
            if (!levels.compareAndSet(1, to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    static final class LongArray extends Baton {
        private final AtomicLongArray levels = new AtomicLongArray(3);

        @Override
        int level() {
            return (int) levels.get(2);
        }

        @Override
        void raise(int to) {
            levels.lazySet(2, to);
        }
    }

    static final class ReferenceArray extends Baton {
        private final AtomicReferenceArray<Integer> levels = new AtomicReferenceArray<>(new Integer[] {0, 0});

        @Override
        int level() {
            return levels.get(1);
        }

        @Override
        void raise(int to) {
            levels.set(1, to);
        }
    }

    static final class Stamped extends Baton {
        private final AtomicStampedReference<String> level = new AtomicStampedReference<>("level", 0);

        @Override
        int level() {
            return level.getStamp();
        }

        @Override
        void raise(int to) {
            if (!level.compareAndSet("level", "level", to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    static final class Markable extends Baton {
        private final AtomicMarkableReference<String> flag = new AtomicMarkableReference<>("flag", false);

        @Override
        int level() {
            return flag.isMarked() ? 1 : 0;
        }

        @Override
        void raise(int to) {
            if (!flag.attemptMark("flag", true)) {
                throw new AssertionError("somebody else raised it");
            }
        }

        @Override
        int last() {
            return 1;
        }
    }

    static final class IntegerUpdater extends Baton {
        private static final AtomicIntegerFieldUpdater<IntegerUpdater> LEVEL =
                AtomicIntegerFieldUpdater.newUpdater(IntegerUpdater.class, "level");
        private volatile int level;

        @Override
        int level() {
            return LEVEL.get(this);
        }

        @Override
        void raise(int to) {
            if (!LEVEL.compareAndSet(this, to - 1, to)) {
                throw new AssertionError("somebody else raised it");
            }
        }
    }

    /** One side goes through the updater, the other straight to the field. */
    static final class LongUpdater extends Baton {
        private static final AtomicLongFieldUpdater<LongUpdater> LEVEL =
                AtomicLongFieldUpdater.newUpdater(LongUpdater.class, "level");
        private volatile long level;

        @Override
        int level() {
            return (int) level;
        }

        @Override
        void raise(int to) {
            LEVEL.lazySet(this, to);
        }
    }

    static final class ReferenceUpdater extends Baton {
        private static final AtomicReferenceFieldUpdater<ReferenceUpdater, Integer> LEVEL =
                AtomicReferenceFieldUpdater.newUpdater(ReferenceUpdater.class, Integer.class, "level");
        private volatile Integer level = 0;

        @Override
        int level() {
            return LEVEL.get(this);
        }

        @Override
        void raise(int to) {
            LEVEL.getAndSet(this, to);
        }
    }

    /** A lock made of one atomic. */
    static final class SpinLock extends Exclusion {
        private final AtomicBoolean held = new AtomicBoolean();

        @Override
        void locked(Runnable body) {
            while (!held.compareAndSet(false, true)) {
                Thread.yield();
            }
            body.run();
            held.setRelease(false);
        }
    }

    /** An adder orders nothing by itself; the joins do. */
    static final class Adder implements Section {
        private final LongAdder adder = new LongAdder();
        private final LongAccumulator highest = new LongAccumulator(Math::max, 0);
        private final Payload first = new Payload();
        private final Payload second = new Payload();

        @Override
        public void run() throws Exception {
            Worker one = Worker.start(() -> add(first, 1));
            Worker two = Worker.start(() -> add(second, 2));
            one.finish();
            two.finish();
            first.expect(1);
            second.expect(2);
            if (adder.sum() != 20 || highest.get() != 2) {
                throw new AssertionError("lost an addition");
            }
        }

        private void add(Payload mine, int n) {
            for (int i = 0; i < 10; i++) {
                adder.increment();
            }
            highest.accumulate(n);
            mine.put(n);
        }
    }

    /** Many in each other's way: most attempts fail, and the order is that of those that do not. */
    static final class Contended implements Section {
        private static final int TURNS = 1000;

        private final AtomicInteger taken = new AtomicInteger();
        private int turns;

        @Override
        public void run() throws Exception {
            Worker[] workers = new Worker[3];
            for (int i = 0; i < workers.length; i++) {
                workers[i] = Worker.start(this::turns);
            }
            turns();
            for (Worker worker : workers) {
                worker.finish();
            }
            if (turns != 4 * TURNS) {
                throw new AssertionError("lost a turn");
            }
        }

        private void turns() {
            for (int i = 0; i < TURNS; i++) {
                while (!taken.compareAndSet(0, 1)) {
                    Thread.onSpinWait();
                }
                turns++;
                taken.set(0);
            }
        }
    }

    /** The collector runs between the release and the acquire; the array is small and new. */
    static final class ArrayCollected implements Section {
        private final AtomicIntegerArray level = new AtomicIntegerArray(2);
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                level.set(1, 1);
                System.gc();
                level.set(0, 1);
            });
            Thread.sleep(50);
            while (level.get(1) == 0) {
                Thread.yield();
            }
            data.expect(1);
            writer.finish();
        }
    }
}
