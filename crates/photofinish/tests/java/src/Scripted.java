import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Small encounters of two threads, in an order that {@link Turn} fixes unseen: what a
 * detector says about each does not depend on luck.
 */
final class Scripted {
    /** Thread A does the first, B the second, A the third. */
    abstract static class Script {
        private final Object[] own = {new Object(), new Object()};

        /**
         * A lock that nobody else takes orders nothing, but gives what is done before and
         * after it a place in a trace, which knows only the order of synchronisation.
         */
        final void mark(int thread) {
            synchronized (own[thread]) {
                Thread.onSpinWait();
            }
        }

        abstract void first();

        abstract void second();

        void third() {}
    }

    static final class WriteThenWrite extends Script {
        int x;

        @Override
        void first() {
            x = 1;
        }

        @Override
        void second() {
            x = 2;
        }
    }

    static final class WriteThenRead extends Script {
        int x;
        int seen;

        @Override
        void first() {
            x = 1;
        }

        @Override
        void second() {
            seen = x;
        }
    }

    static final class ReadThenWrite extends Script {
        int x;
        int seen;

        @Override
        void first() {
            seen = x;
        }

        @Override
        void second() {
            x = 1;
        }
    }

    static final class Increments extends Script {
        long x;

        @Override
        void first() {
            x++;
        }

        @Override
        void second() {
            x++;
        }

        @Override
        void third() {
            x++;
        }
    }

    static final class Shared extends Script {
        static String x;

        @Override
        void first() {
            x = "mine";
        }

        @Override
        void second() {
            x = "yours";
        }
    }

    static final class Elements extends Script {
        final short[] cells = new short[4];

        @Override
        void first() {
            cells[0] = 1;
            cells[2] = 1;
        }

        @Override
        void second() {
            cells[1] = 1;
            cells[2] = 2;
        }
    }

    static final class SameLock extends Script {
        private final Object lock = new Object();
        int x;

        @Override
        void first() {
            synchronized (lock) {
                x++;
            }
        }

        @Override
        void second() {
            synchronized (lock) {
                x++;
            }
        }

        @Override
        void third() {
            first();
        }
    }

    static final class TwoLocks extends Script {
        private final Object mine = new Object();
        private final ReentrantLock yours = new ReentrantLock();
        int x;

        @Override
        void first() {
            synchronized (mine) {
                x = 1;
            }
        }

        @Override
        void second() {
            yours.lock();
            try {
                x = 2;
            } finally {
                yours.unlock();
            }
        }

        @Override
        void third() {
            first();
        }
    }

    /** Ordered only because A happens to be quicker. */
    static final class Lucky extends Script {
        private final Object lock = new Object();
        int x;
        int guarded;

        @Override
        void first() {
            x = 1;
            synchronized (lock) {
                guarded++;
            }
        }

        @Override
        void second() {
            synchronized (lock) {
                guarded++;
            }
            x = 2;
        }
    }

    static final class Handoff extends Script {
        private volatile boolean ready;
        int x;

        @Override
        void first() {
            x = 1;
            ready = true;
        }

        @Override
        void second() {
            if (ready) {
                x = 2;
            }
        }
    }

    static final class ReadLocked extends Script {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        int x;

        @Override
        void first() {
            lock.readLock().lock();
            try {
                x++;
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override
        void second() {
            first();
        }

        @Override
        void third() {
            first();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Script[] scripts = {
            new WriteThenWrite(), new WriteThenRead(), new ReadThenWrite(), new Increments(), new Shared(),
            new Elements(), new SameLock(), new TwoLocks(), new Lucky(), new Handoff(), new ReadLocked(),
        };
        for (Script script : scripts) {
            // Neither starts after the other began, nor ends before it is done: the JDK locks
            // what it does then.
            Turn.set(0);
            Thread a = new Thread(() -> {
                Turn.await(1);
                script.mark(0);
                script.first();
                script.mark(0);
                Turn.done();
                Turn.await(3);
                script.mark(0);
                script.third();
                script.mark(0);
                Turn.done();
            }, "A");
            Thread b = new Thread(() -> {
                Turn.await(2);
                script.mark(1);
                script.second();
                script.mark(1);
                Turn.done();
                Turn.await(4);
            }, "B");
            a.start();
            b.start();
            Turn.set(1);
            a.join();
            b.join();
            System.out.println(script.getClass().getName());
        }
    }
}
