package ordered;

/** Synchronized blocks and methods, and waiting inside them. */
final class Monitors {
    private Monitors() {}

    static final class Block extends Exclusion {
        private final Object lock = new Object();

        @Override
        void locked(Runnable body) {
            synchronized (lock) {
                body.run();
            }
        }
    }

    static final class Method extends Exclusion {
        @Override
        synchronized void locked(Runnable body) {
            body.run();
        }
    }

    static final class StaticMethod extends Exclusion {
        private static synchronized void hold(Runnable body) {
            body.run();
        }

        @Override
        void locked(Runnable body) {
            hold(body);
        }
    }

    /** A static synchronized method and a block on the class literal take the same lock. */
    static final class ClassLiteral extends Exclusion {
        private static synchronized void hold(Runnable body) {
            body.run();
        }

        @Override
        void locked(Runnable body) {
            hold(body);
        }

        @Override
        void lockedForReading(Runnable body) {
            synchronized (ClassLiteral.class) {
                body.run();
            }
        }
    }

    /** Entered twice: only the outer exit releases. */
    static final class Reentrant extends Exclusion {
        @Override
        synchronized void locked(Runnable body) {
            again(() -> {});
            body.run();
        }

        private synchronized void again(Runnable body) {
            body.run();
        }
    }

    /** Left by an exception, the lock is released all the same. */
    static final class ExceptionalExit extends Exclusion {
        private final Object lock = new Object();

        @Override
        void locked(Runnable body) {
            try {
                synchronized (lock) {
                    body.run();
                    throw new IllegalStateException("on purpose");
                }
            } catch (IllegalStateException e) {
                // Expected: the way out of the block is what is tried here.
            }
        }
    }

    static final class ExceptionalMethodExit extends Exclusion {
        @Override
        void locked(Runnable body) {
            try {
                leave(body);
            } catch (IllegalStateException e) {
                // Expected.
            }
        }

        private synchronized void leave(Runnable body) {
            body.run();
            throw new IllegalStateException("on purpose");
        }
    }

    /** The shape of every hand-over by wait and notify; variants differ in both calls. */
    abstract static class Handover implements Section {
        final Object lock = new Object();
        private final Payload data = new Payload();
        private boolean ready;

        abstract void pause() throws InterruptedException;

        abstract void wake();

        @Override
        public final void run() throws Exception {
            Worker writer = Worker.start(() -> {
                synchronized (lock) {
                    data.put(1);
                    ready = true;
                    wake();
                }
            });
            synchronized (lock) {
                while (!ready) {
                    pause();
                }
                data.expect(1);
            }
            writer.finish();
        }
    }

    static final class WaitNotify extends Handover {
        @Override
        void pause() throws InterruptedException {
            lock.wait();
        }

        @Override
        void wake() {
            lock.notify();
        }
    }

    static final class WaitNotifyAll extends Handover {
        @Override
        void pause() throws InterruptedException {
            lock.wait();
        }

        @Override
        void wake() {
            lock.notifyAll();
        }
    }

    static final class TimedWait extends Handover {
        @Override
        void pause() throws InterruptedException {
            lock.wait(60_000);
        }

        @Override
        void wake() {
            lock.notify();
        }
    }

    static final class TimedWaitNanos extends Handover {
        @Override
        void pause() throws InterruptedException {
            lock.wait(60_000, 1);
        }

        @Override
        void wake() {
            lock.notifyAll();
        }
    }

    /** Waiting in a lock held twice gives up both holds, and takes them back. */
    static final class NestedWait extends Handover {
        @Override
        void pause() throws InterruptedException {
            synchronized (lock) {
                lock.wait();
            }
        }

        @Override
        void wake() {
            lock.notify();
        }
    }

    /** A wait that runs out still takes the lock again, and sees what happened under it. */
    static final class ExpiredWait extends Handover {
        @Override
        void pause() throws InterruptedException {
            lock.wait(1);
        }

        @Override
        void wake() {
            // Nobody is told; the waiter finds out by itself.
        }
    }

    /** Two threads that take turns, each waiting for the other. */
    static final class PingPong implements Section {
        private final Payload data = new Payload();
        private int turn;

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(1));
            play(0);
            other.finish();
        }

        private synchronized void play(int parity) throws InterruptedException {
            while (turn < 20) {
                if (turn % 2 != parity) {
                    wait();
                    continue;
                }
                if (turn > 0) {
                    data.expect(turn);
                }
                turn++;
                data.put(turn);
                notifyAll();
            }
        }
    }

    /** An exception guards what was added to it by its own lock. */
    static final class Suppressed extends Baton {
        private final Exception shared = new Exception();

        @Override
        int level() {
            return shared.getSuppressed().length;
        }

        @Override
        void raise(int to) {
            shared.addSuppressed(new Exception());
        }
    }

    /** And its cause, which is set once. */
    static final class Cause extends Baton {
        private final Exception shared = new Exception();

        @Override
        int level() {
            return shared.getCause() == null ? 0 : 1;
        }

        @Override
        void raise(int to) {
            shared.initCause(new Exception());
        }

        @Override
        int last() {
            return 1;
        }
    }
}
