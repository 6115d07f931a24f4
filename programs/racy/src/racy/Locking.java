package racy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Synchronisation that is there, and does not do what was meant. */
final class Locking {
    private Locking() {}

    static final class TwoLocks implements Section {
        final Object left = new Object();
        final Object right = new Object();
        int x;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        synchronized (left) {
                            x++; // race: two-locks
                        }
                    },
                    () -> {
                        synchronized (right) {
                            x++; // race: two-locks
                        }
                    });
        }
    }

    static final class OneSided implements Section {
        int x;
        int seen;

        synchronized void set(int value) {
            x = value; // race: one-sided
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> set(1),
                    () -> seen = x); // race: one-sided
        }
    }

    /** Each instance has a lock of its own; the static has none. */
    static final class LockPerInstance implements Section {
        static int x;

        synchronized void count() {
            x++; // race: lock-per-instance
        }

        @Override
        public void run() throws Exception {
            LockPerInstance other = new LockPerInstance();
            Duel.run(this::count, other::count);
        }
    }

    /** A synchronized static method locks the class, a synchronized method the object. */
    static final class ClassAgainstObject implements Section {
        static int x;

        static synchronized void setFromClass() {
            x = 1; // race: class-against-object
        }

        synchronized void setFromObject() {
            x = 2; // race: class-against-object
        }

        @Override
        public void run() throws Exception {
            Duel.run(ClassAgainstObject::setFromClass, this::setFromObject);
        }
    }

    /** The lock is the very thing that changes. */
    static final class ChangingLock implements Section {
        Object state = new Object();

        void step() {
            synchronized (state) { // race: changing-lock
                state = new Object(); // race: changing-lock
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(this::step, this::step);
        }
    }

    /** Both take the lock, and both let go of it too early. */
    static final class LockTooShort implements Section {
        final ReentrantLock lock = new ReentrantLock();
        int x;

        void count() {
            lock.lock();
            lock.unlock();
            x++; // race: lock-too-short
        }

        @Override
        public void run() throws Exception {
            new LockTooShort().count(); // loads what locking needs
            Duel.run(this::count, this::count);
        }
    }

    /** Readers of a read-write lock do not exclude, and do not order, each other. */
    static final class ReadLockWrite implements Section {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        int x;

        void count() {
            lock.readLock().lock();
            try {
                x++; // race: read-lock-write
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override
        public void run() throws Exception {
            new ReadLockWrite().count();
            Duel.run(this::count, this::count);
        }
    }

    /** An optimistic read that nobody validates, against a writer that came later. */
    static final class OptimisticUnchecked implements Section {
        final StampedLock lock = new StampedLock();
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            Duel.withoutGate(
                    () -> {
                        gate.pass();
                        long stamp = lock.writeLock();
                        x = 1; // race: optimistic-unchecked
                        lock.unlockWrite(stamp);
                    },
                    () -> {
                        lock.tryOptimisticRead();
                        gate.pass();
                        seen = x; // race: optimistic-unchecked
                    });
        }
    }

    /** tryLock said no, and nobody listened. */
    static final class TryLockFailed implements Section {
        final ReentrantLock lock = new ReentrantLock();
        boolean locked;
        int x;

        @Override
        public void run() throws Exception {
            Gate held = new Gate(2);
            Gate tried = new Gate(2);
            Duel.withoutGate(
                    () -> {
                        lock.lock();
                        held.pass();
                        tried.pass();
                        x = 1; // race: try-lock-failed
                        lock.unlock();
                    },
                    () -> {
                        held.pass();
                        locked = lock.tryLock();
                        tried.pass();
                        x = 2; // race: try-lock-failed
                    });
        }
    }

    /** A join that gave up has joined nothing. */
    static final class JoinExpired implements Section {
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            Thread writer = new Thread(() -> {
                gate.pass();
                x = 1; // race: join-expired
            });
            writer.start();
            writer.join(1);
            gate.pass();
            seen = x; // race: join-expired
            writer.join();
        }
    }

    static final class LatchExpired implements Section {
        final CountDownLatch latch = new CountDownLatch(1);
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            Duel.withoutGate(
                    () -> {
                        gate.pass();
                        x = 1; // race: latch-expired
                        latch.countDown();
                    },
                    () -> {
                        latch.await(1, TimeUnit.MILLISECONDS);
                        gate.pass();
                        seen = x; // race: latch-expired
                    });
        }
    }

    /** Notifies one object and waits on another. */
    static final class WaitElsewhere implements Section {
        final Object here = new Object();
        final Object there = new Object();
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        x = 1; // race: wait-elsewhere
                        synchronized (here) {
                            here.notifyAll();
                        }
                    },
                    () -> {
                        synchronized (there) {
                            there.wait(1);
                        }
                        seen = x; // race: wait-elsewhere
                    });
        }
    }

    /** The flag goes up before the data is there. */
    static final class WrongSideOfVolatile implements Section {
        volatile boolean ready;
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        ready = true;
                        x = 1; // race: wrong-side-of-volatile
                    },
                    () -> {
                        while (!ready) {
                            Thread.yield();
                        }
                        seen = x; // race: wrong-side-of-volatile
                    });
        }
    }

    /** Set up after start() instead of before it. */
    static final class StartTooEarly implements Section {
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            Thread reader = new Thread(() -> {
                gate.pass();
                seen = x; // race: start-too-early
            });
            reader.start();
            gate.pass();
            x = 1; // race: start-too-early
            reader.join();
        }
    }

    /** A read lock keeps writers out, not other readers. */
    static final class StampedReaders implements Section {
        final StampedLock lock = new StampedLock();
        int x;

        void count() {
            long stamp = lock.readLock();
            try {
                x++; // race: stamped-readers
            } finally {
                lock.unlockRead(stamp);
            }
        }

        @Override
        public void run() throws Exception {
            Duel.run(
                    this::count,
                    () -> {
                        Thread.sleep(50);
                        count();
                    });
        }
    }
}
