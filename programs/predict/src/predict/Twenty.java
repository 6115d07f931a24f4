package predict;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Twenty small programs with a race each, run so that the two threads come one
 * after the other: `java predict.Twenty SECTION`. The second thread sleeps
 * first, which orders nothing; what orders the threads in the run, if anything
 * does, is only chance.
 */
public final class Twenty {
    private Twenty() {}

    interface Section {
        void first() throws Exception;

        void second() throws Exception;
    }

    /** Nothing orders them. */
    static final class Plain implements Section {
        int x;

        public void first() {
            x = 1;
        }

        public void second() {
            x = 2;
        }
    }

    /** A lock that is taken by both, in an order that is chance. */
    static final class LockOrder implements Section {
        final Object lock = new Object();
        int x, ours, theirs;

        public void first() {
            x = 1;
            synchronized (lock) {
                ours = 1;
            }
        }

        public void second() {
            synchronized (lock) {
                theirs = 1;
            }
            x = 2;
        }
    }

    /** The same with a lock of java.util.concurrent. */
    static final class ReentrantOrder implements Section {
        final ReentrantLock lock = new ReentrantLock();
        int x, ours, theirs;

        public void first() {
            x = 1;
            lock.lock();
            ours = 1;
            lock.unlock();
        }

        public void second() {
            lock.lock();
            theirs = 1;
            lock.unlock();
            x = 2;
        }
    }

    /** Only if the critical sections change places do they meet. */
    static final class Inside implements Section {
        final Object lock = new Object();
        int x, theirs;

        public void first() {
            synchronized (lock) {
                x = 1;
            }
        }

        public void second() {
            synchronized (lock) {
                theirs = 1;
            }
            x = 2;
        }
    }

    /** Two locks for one variable, and a third in between. */
    static final class WrongLocks implements Section {
        final Object a = new Object(), b = new Object(), c = new Object();
        int x, ours, theirs;

        public void first() {
            synchronized (a) {
                x = 1;
            }
            synchronized (c) {
                ours = 1;
            }
        }

        public void second() {
            synchronized (c) {
                theirs = 1;
            }
            synchronized (b) {
                x = 2;
            }
        }
    }

    /** Both write something under the lock, and nobody looks at it. */
    static final class LastWins implements Section {
        final Object lock = new Object();
        int x, last;

        public void first() {
            x = 1;
            synchronized (lock) {
                last = 1;
            }
        }

        public void second() {
            synchronized (lock) {
                last = 2;
            }
            x = 2;
        }
    }

    /** Statistics under a lock order what they count. */
    static final class Counted implements Section {
        final Object lock = new Object();
        int x, count;

        public void first() {
            x = 1;
            synchronized (lock) {
                count++;
            }
        }

        public void second() {
            synchronized (lock) {
                count++;
            }
            x = 2;
        }
    }

    /** A volatile counter does the same. */
    static final class Hits implements Section {
        volatile int hits;
        int x;

        public void first() {
            x = 1;
            hits = hits + 1;
        }

        public void second() {
            hits = hits + 1;
            x = 2;
        }
    }

    /** And so does an atomic one. */
    static final class AtomicHits implements Section {
        final AtomicInteger hits = new AtomicInteger();
        int x;

        public void first() {
            x = 1;
            hits.incrementAndGet();
        }

        public void second() {
            hits.incrementAndGet();
            x = 2;
        }
    }

    /** Looks at the flag, and goes on whatever it says. */
    static final class Hint implements Section {
        volatile boolean ready;
        int x;

        public void first() {
            x = 1;
            ready = true;
        }

        public void second() {
            int tries = 0;
            if (!ready) {
                tries = 1;
            }
            x = 2 + tries;
        }
    }

    /** Reads the state under the lock, and does not use it. */
    static final class Unused implements Section {
        final Object lock = new Object();
        int x, state;

        public void first() {
            x = 1;
            synchronized (lock) {
                state = 1;
            }
        }

        public void second() {
            int seen;
            synchronized (lock) {
                seen = state;
            }
            x = 2;
            if (seen > 1) {
                x = 3;
            }
        }
    }

    /** The value goes somewhere else than the decision. */
    static final class Copied implements Section {
        final Object lock = new Object();
        int x, state, copy;

        public void first() {
            x = 1;
            synchronized (lock) {
                state = 1;
            }
        }

        public void second() {
            synchronized (lock) {
                copy = state + 1;
            }
            x = 2;
        }
    }

    /** Readers of a read-write lock that write. */
    static final class Readers implements Section {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        int x;

        public void first() {
            lock.readLock().lock();
            x = 1;
            lock.readLock().unlock();
        }

        public void second() {
            lock.readLock().lock();
            x = 2;
            lock.readLock().unlock();
        }
    }

    /** An element under a lock for one thread only. */
    static final class Element implements Section {
        final Object lock = new Object();
        final int[] x = new int[2];
        int theirs;

        public void first() {
            synchronized (lock) {
                x[1] = 1;
            }
        }

        public void second() {
            synchronized (lock) {
                theirs = x[0];
            }
            x[1] = 2;
        }
    }

    /** A check without the lock that guards the change. */
    static final class DoubleCheck implements Section {
        final Object lock = new Object();
        Object x;

        private Object get() {
            if (x == null) {
                synchronized (lock) {
                    if (x == null) {
                        x = new Object();
                    }
                }
            }
            return x;
        }

        public void first() {
            get();
        }

        public void second() {
            get();
        }
    }

    /** A queue of one, guarded; what is queued is changed afterwards. */
    static final class Late implements Section {
        static final class Item {
            int x;
        }

        final Object lock = new Object();
        Item queued;

        public void first() {
            Item item = new Item();
            item.x = 1;
            synchronized (lock) {
                queued = item;
            }
            item.x = 2;
        }

        public void second() {
            Item item;
            synchronized (lock) {
                item = queued;
            }
            if (item != null) {
                item.x = 3;
            }
        }
    }

    /** Stopped by a plain flag. */
    static final class Stop implements Section {
        boolean x;

        public void first() {
            x = true;
        }

        public void second() {
            int turns = 0;
            while (!x && turns < 100) {
                turns++;
            }
        }
    }

    /** Two counters, one lock too few. */
    static final class Transfer implements Section {
        final Object from = new Object(), to = new Object();
        int a, x;

        public void first() {
            synchronized (from) {
                a -= 1;
                synchronized (to) {
                    x += 1;
                }
            }
        }

        public void second() {
            synchronized (from) {
                a += 1;
            }
            x -= 1;
        }
    }

    /** A log line before and after. */
    static final class Logged implements Section {
        final StringBuilder log = new StringBuilder();
        final Object lock = new Object();
        int x, lines;

        private void log(char c) {
            synchronized (lock) {
                lines = lines + 1;
            }
        }

        public void first() {
            log('a');
            x = 1;
            log('b');
        }

        public void second() {
            log('c');
            x = 2;
            log('d');
        }
    }

    /** A limit that is looked up, and never reached. */
    static final class Limit implements Section {
        final Object lock = new Object();
        int x, limit = 10;

        public void first() {
            x = 1;
            synchronized (lock) {
                limit = 20;
            }
        }

        public void second() {
            int most;
            synchronized (lock) {
                most = limit;
            }
            int turns = 0;
            if (turns >= most) {
                turns = most;
            }
            x = 2 + turns;
        }
    }

    private static Section section(String name) {
        switch (name) {
            case "plain": return new Plain();
            case "lock-order": return new LockOrder();
            case "reentrant-order": return new ReentrantOrder();
            case "inside": return new Inside();
            case "wrong-locks": return new WrongLocks();
            case "last-wins": return new LastWins();
            case "counted": return new Counted();
            case "hits": return new Hits();
            case "atomic-hits": return new AtomicHits();
            case "hint": return new Hint();
            case "unused": return new Unused();
            case "copied": return new Copied();
            case "readers": return new Readers();
            case "element": return new Element();
            case "double-check": return new DoubleCheck();
            case "late": return new Late();
            case "stop": return new Stop();
            case "transfer": return new Transfer();
            case "logged": return new Logged();
            case "limit": return new Limit();
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Section section = section(args[0]);
        Thread first = new Thread(() -> run(section, false), "first");
        Thread second = new Thread(() -> run(section, true), "second");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static void run(Section section, boolean second) {
        try {
            if (second) {
                Thread.sleep(600);
                section.second();
            } else {
                section.first();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
