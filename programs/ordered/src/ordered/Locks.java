package ordered;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** The locks of java.util.concurrent.locks, and their conditions. */
final class Locks {
    private Locks() {}

    static final class Reentrant extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void locked(Runnable body) {
            lock.lock();
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class Fair extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock(true);

        @Override
        void locked(Runnable body) {
            lock.lock();
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Held twice: only the last unlock releases. */
    static final class HeldTwice extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void locked(Runnable body) {
            lock.lock();
            lock.lock();
            lock.unlock();
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class TryLock extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void locked(Runnable body) {
            while (!lock.tryLock()) {
                Thread.yield();
            }
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class TimedTryLock extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void locked(Runnable body) throws InterruptedException {
            if (!lock.tryLock(60, TimeUnit.SECONDS)) {
                throw new AssertionError("no lock after a minute");
            }
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class Interruptibly extends Exclusion {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void locked(Runnable body) throws InterruptedException {
            lock.lockInterruptibly();
            try {
                body.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Hand-over by a condition; variants differ in how they wait and wake. */
    abstract static class Waiting implements Section {
        private final ReentrantLock lock = new ReentrantLock();
        final Condition changed = lock.newCondition();
        private final Payload data = new Payload();
        private boolean ready;

        abstract void pause() throws InterruptedException;

        void wake() {
            changed.signal();
        }

        @Override
        public final void run() throws Exception {
            Worker writer = Worker.start(() -> {
                lock.lock();
                try {
                    data.put(1);
                    ready = true;
                    wake();
                } finally {
                    lock.unlock();
                }
            });
            lock.lock();
            try {
                while (!ready) {
                    pause();
                }
                data.expect(1);
            } finally {
                lock.unlock();
            }
            writer.finish();
        }
    }

    static final class Await extends Waiting {
        @Override
        void pause() throws InterruptedException {
            changed.await();
        }
    }

    static final class AwaitNanos extends Waiting {
        @Override
        void pause() throws InterruptedException {
            changed.awaitNanos(60_000_000_000L);
        }

        @Override
        void wake() {
            changed.signalAll();
        }
    }

    static final class AwaitUninterruptibly extends Waiting {
        @Override
        void pause() {
            changed.awaitUninterruptibly();
        }
    }

    /** Waits that run out, until the thing has happened. */
    static final class AwaitExpired extends Waiting {
        @Override
        void pause() throws InterruptedException {
            changed.await(100, TimeUnit.MICROSECONDS);
        }

        @Override
        void wake() {
            // Nobody is told; the waiter finds out by itself.
        }
    }

    private abstract static class ReadWrite extends Exclusion {
        final ReentrantReadWriteLock lock;

        ReadWrite(boolean fair) {
            lock = new ReentrantReadWriteLock(fair);
        }

        @Override
        void locked(Runnable body) {
            with(lock.writeLock(), body);
        }

        @Override
        void lockedForReading(Runnable body) {
            with(lock.readLock(), body);
        }

        static void with(Lock part, Runnable body) {
            part.lock();
            try {
                body.run();
            } finally {
                part.unlock();
            }
        }
    }

    /** Writers against a reader, in both orders. */
    static final class WriterAndReader extends ReadWrite {
        WriterAndReader() {
            super(false);
        }
    }

    static final class FairWriterAndReader extends ReadWrite {
        FairWriterAndReader() {
            super(true);
        }
    }

    /** The writer takes the read lock before it gives up the write lock. */
    static final class Downgrade extends ReadWrite {
        Downgrade() {
            super(false);
        }

        @Override
        void locked(Runnable body) {
            lock.writeLock().lock();
            try {
                body.run();
                lock.readLock().lock();
            } finally {
                lock.writeLock().unlock();
            }
            lock.readLock().unlock();
        }
    }

    /**
     * A writer comes after two readers: after both, not only after the last one out.
     * A reader counts itself as a writer and keeps the lock for reading, so that
     * whoever sees the count of two as a writer comes after both.
     */
    static final class ReadersThenWriter implements Section {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final Payload data = new Payload();
        private int readers;

        @Override
        public void run() throws Exception {
            data.put(1);
            Worker first = Worker.start(this::read);
            Worker second = Worker.start(this::read);
            int seen;
            do {
                lock.writeLock().lock();
                try {
                    seen = readers;
                    if (seen == 2) {
                        data.put(2);
                    }
                } finally {
                    lock.writeLock().unlock();
                }
                Thread.yield();
            } while (seen < 2);
            first.finish();
            second.finish();
        }

        private void read() {
            lock.writeLock().lock();
            readers++;
            lock.readLock().lock();
            lock.writeLock().unlock();
            data.expect(1);
            lock.readLock().unlock();
        }
    }

    static final class StampedWrite extends Exclusion {
        private final StampedLock lock = new StampedLock();

        @Override
        void locked(Runnable body) {
            long stamp = lock.writeLock();
            try {
                body.run();
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    static final class StampedRead extends Exclusion {
        private final StampedLock lock = new StampedLock();

        @Override
        void locked(Runnable body) {
            long stamp = lock.writeLock();
            try {
                body.run();
            } finally {
                lock.unlock(stamp);
            }
        }

        @Override
        void lockedForReading(Runnable body) {
            long stamp = lock.readLock();
            try {
                body.run();
            } finally {
                lock.unlockRead(stamp);
            }
        }
    }

    static final class StampedTry extends Exclusion {
        private final StampedLock lock = new StampedLock();

        @Override
        void locked(Runnable body) throws InterruptedException {
            long stamp = lock.tryWriteLock(60, TimeUnit.SECONDS);
            try {
                body.run();
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        @Override
        void lockedForReading(Runnable body) {
            long stamp = lock.tryReadLock();
            if (stamp != 0) {
                try {
                    body.run();
                } finally {
                    lock.unlockRead(stamp);
                }
            }
        }
    }

    /** Reads first, and becomes a writer if nobody else is in the way. */
    static final class StampedConvert extends Exclusion {
        private final StampedLock lock = new StampedLock();

        @Override
        void locked(Runnable body) {
            long stamp = lock.readLock();
            try {
                long write = lock.tryConvertToWriteLock(stamp);
                if (write == 0) {
                    lock.unlockRead(stamp);
                    write = lock.writeLock();
                }
                stamp = write;
                body.run();
            } finally {
                lock.unlock(stamp);
            }
        }

        @Override
        void lockedForReading(Runnable body) {
            long stamp = lock.writeLock();
            try {
                stamp = lock.tryConvertToReadLock(stamp);
                body.run();
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    /**
     * Readers come in the moment that a writer goes on as a reader: as often as possible while the
     * conversion is still on its way back.
     */
    static final class StampedDowngrade implements Section {
        private static final int ROUNDS = 5000;

        private final StampedLock lock = new StampedLock();
        private int first;
        private int second;

        @Override
        public void run() throws Exception {
            Worker[] readers = {Worker.start(this::read), Worker.start(this::read)};
            for (int i = 0; i < ROUNDS; i++) {
                long stamp;
                while ((stamp = lock.tryWriteLock()) == 0) {
                    Thread.onSpinWait();
                }
                first++;
                second++;
                if (i % 2 == 0) {
                    stamp = lock.tryConvertToReadLock(stamp);
                    lock.unlockRead(stamp);
                } else if (lock.tryConvertToOptimisticRead(stamp) == 0) {
                    throw new AssertionError("not given up");
                }
            }
            for (Worker reader : readers) {
                reader.finish();
            }
        }

        private void read() {
            for (int i = 0; i < ROUNDS; i++) {
                long stamp;
                while ((stamp = lock.tryReadLock()) == 0) {
                    Thread.onSpinWait();
                }
                if (first != second) {
                    throw new AssertionError("half written");
                }
                lock.unlockRead(stamp);
            }
        }
    }

    static final class StampedViews extends Exclusion {
        private final StampedLock lock = new StampedLock();

        @Override
        void locked(Runnable body) {
            ReadWrite.with(lock.asWriteLock(), body);
        }

        @Override
        void lockedForReading(Runnable body) {
            ReadWrite.with(lock.asReadWriteLock().readLock(), body);
        }
    }

    /**
     * An optimistic read of what a writer has finished: the stamp that it starts
     * from is a later one than that from before the writer, and stays valid.
     */
    static final class StampedOptimistic implements Section {
        private final StampedLock lock = new StampedLock();
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            long before = lock.tryOptimisticRead();
            Worker writer = Worker.start(() -> {
                long stamp = lock.writeLock();
                data.put(1);
                lock.unlockWrite(stamp);
            });
            long stamp;
            do {
                Thread.yield();
                stamp = lock.tryOptimisticRead();
            } while (stamp == 0 || stamp == before);
            data.expect(1);
            if (!lock.validate(stamp)) {
                throw new AssertionError("a second writer");
            }
            writer.finish();
        }
    }

    /** A lock that a program makes itself on the framework of the others. */
    static final class Custom extends Exclusion {
        private static final class Mutex extends AbstractQueuedSynchronizer {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean tryAcquire(int ignored) {
                return compareAndSetState(0, 1);
            }

            @Override
            protected boolean tryRelease(int ignored) {
                setState(0);
                return true;
            }
        }

        private final Mutex mutex = new Mutex();

        @Override
        void locked(Runnable body) {
            mutex.acquire(1);
            try {
                body.run();
            } finally {
                mutex.release(1);
            }
        }
    }

    /** Its monitor is another lock, taken by others all the time. */
    static final class StampedAndMonitor implements Section {
        private final StampedLock lock = new StampedLock();
        private volatile boolean over;

        private final class Inner extends Exclusion {
            @Override
            void locked(Runnable body) {
                long stamp = lock.writeLock();
                try {
                    body.run();
                    Thread.yield();
                } finally {
                    lock.unlockWrite(stamp);
                }
            }
        }

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> {
                int[] own = new int[1];
                while (!over) {
                    synchronized (lock) {
                        own[0]++;
                    }
                }
            });
            new Inner().run();
            over = true;
            other.finish();
        }
    }

    /** A stamp belongs to nobody: one thread locks, another unlocks. */
    static final class StampedHandedOver implements Section {
        private final StampedLock lock = new StampedLock();
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            for (int n = 1; n < 5; n++) {
                int state = n;
                long stamp = lock.writeLock();
                Worker unlocker = Worker.start(() -> {
                    data.put(state);
                    lock.unlockWrite(stamp);
                });
                long mine = lock.readLock();
                data.expect(state);
                lock.unlockRead(mine);
                unlocker.finish();
            }
        }
    }
}
