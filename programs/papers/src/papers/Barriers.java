package papers;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Barriers for two threads, each with the test that the JRF-E paper ran (tables 5 and 6): before they meet, both threads
 * set the same value, without a lock. The two linear barriers announce arrivals in plain elements of an array. Stand
 * for the barriers of the Google workshop, whose sources we do not have.
 *
 * <p>Argument: which barrier.
 */
public final class Barriers {
    private interface Barrier {
        void await(int me) throws InterruptedException;
    }

    /** Every thread waits for the elements of all others. */
    private static final class Linear implements Barrier {
        private int[] threadDone = new int[2];

        @Override
        public void await(int me) {
            int mine = threadDone[me] + 1;
            threadDone[me] = mine; // race: barriers
            while (threadDone[1 - me] < mine) { // race: barriers
                Thread.onSpinWait();
            }
        }
    }

    /** The same behind a volatile reference, which does not help. */
    private static final class LinearVolatile implements Barrier {
        private volatile int[] threadDone = new int[2];

        @Override
        public void await(int me) {
            int mine = threadDone[me] + 1;
            threadDone[me] = mine; // race: barriers
            while (threadDone[1 - me] < mine) { // race: barriers
                Thread.onSpinWait();
            }
        }
    }

    /** The last one to come turns the sense. */
    private static final class Sense implements Barrier {
        private final AtomicInteger missing = new AtomicInteger(2);
        private volatile boolean sense;

        @Override
        public void await(int me) {
            boolean before = sense;
            if (missing.decrementAndGet() == 0) {
                missing.set(2);
                sense = !before;
            }
            while (sense == before) {
                Thread.onSpinWait();
            }
        }
    }

    /** A node that a child reports to; in a tree of two threads there is one. */
    private static final class Tree implements Barrier {
        private volatile int arrived;
        private volatile int released;

        @Override
        public void await(int me) {
            if (me == 1) {
                int next = released + 1;
                arrived = next;
                while (released < next) {
                    Thread.onSpinWait();
                }
            } else {
                int next = released + 1;
                while (arrived < next) {
                    Thread.onSpinWait();
                }
                released = next;
            }
        }
    }

    private static final class Monitor implements Barrier {
        private int count;

        @Override
        public synchronized void await(int me) throws InterruptedException {
            count++;
            if (count == 2) {
                notifyAll();
            }
            while (count < 2) {
                wait();
            }
        }
    }

    private static final class Locked implements Barrier {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition all = lock.newCondition();
        private int count;

        @Override
        public void await(int me) throws InterruptedException {
            lock.lock();
            try {
                count++;
                if (count == 2) {
                    all.signalAll();
                }
                while (count < 2) {
                    all.await();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private static final class Cyclic implements Barrier {
        private final CyclicBarrier barrier = new CyclicBarrier(2);

        @Override
        public void await(int me) throws InterruptedException {
            try {
                barrier.await();
            } catch (BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private int value;

    private Barriers() {}

    private static Barrier make(String kind) {
        switch (kind) {
            case "linear":
                return new Linear();
            case "linear-volatile":
                return new LinearVolatile();
            case "sense":
                return new Sense();
            case "tree":
                return new Tree();
            case "monitor":
                return new Monitor();
            case "lock":
                return new Locked();
            case "cyclic":
                return new Cyclic();
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Barrier barrier = make(args[0]);
        Barriers test = new Barriers();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                test.value = 7; // race: barriers
                try {
                    barrier.await(me);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "member " + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
