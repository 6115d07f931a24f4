package ordered;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Start, end and interruption of threads, and what belongs to one thread alone. */
final class Threads {
    private Threads() {}

    static final class Start implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            data.put(1);
            Worker.start(() -> data.expect(1)).finish();
        }
    }

    /** Through a thread in the middle, which touches nothing. */
    static final class StartChain implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            data.put(1);
            Worker.start(() -> Worker.start(() -> data.expect(1)).finish()).finish();
        }
    }

    /** What a thread left behind, seen once it is known to have ended. */
    abstract static class End implements Section {
        private final Payload data = new Payload();

        abstract void awaitEnd(Thread thread) throws InterruptedException;

        @Override
        public final void run() throws Exception {
            Worker writer = Worker.start(() -> {
                Thread.sleep(1);
                data.put(1);
            });
            awaitEnd(writer);
            data.expect(1);
            writer.finish();
        }
    }

    static final class Join extends End {
        @Override
        void awaitEnd(Thread thread) throws InterruptedException {
            thread.join();
        }
    }

    static final class TimedJoin extends End {
        @Override
        void awaitEnd(Thread thread) throws InterruptedException {
            thread.join(60_000);
        }
    }

    static final class TimedJoinNanos extends End {
        @Override
        void awaitEnd(Thread thread) throws InterruptedException {
            thread.join(60_000, 1);
        }
    }

    static final class IsAlive extends End {
        @Override
        void awaitEnd(Thread thread) {
            while (thread.isAlive()) {
                Thread.yield();
            }
        }
    }

    static final class GetState extends End {
        @Override
        void awaitEnd(Thread thread) {
            while (thread.getState() != Thread.State.TERMINATED) {
                Thread.yield();
            }
        }
    }

    /** Many short joins, the last of which finds the thread gone. */
    static final class RepeatedJoin extends End {
        @Override
        void awaitEnd(Thread thread) throws InterruptedException {
            do {
                thread.join(1);
            } while (thread.isAlive());
        }
    }

    /** The end of a thread by an exception that nobody caught; its handler writes, too. */
    static final class UncaughtHandler implements Section {
        private final Payload body = new Payload();
        private final Payload handler = new Payload();

        @Override
        public void run() throws Exception {
            Thread thread = new Thread(() -> {
                body.put(1);
                throw new IllegalStateException("on purpose");
            });
            thread.setUncaughtExceptionHandler((t, e) -> {
                body.expect(1);
                handler.put(2);
            });
            thread.start();
            thread.join();
            body.expect(1);
            handler.expect(2);
        }
    }

    static final class Factory implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            ThreadFactory factory = task -> {
                Thread thread = new Thread(task, "made");
                thread.setDaemon(true);
                return thread;
            };
            data.put(1);
            Thread thread = factory.newThread(() -> {
                data.expect(1);
                data.put(2);
            });
            thread.start();
            thread.join();
            data.expect(2);
        }
    }

    /** What was done before interrupt(), seen by whoever notices the interruption. */
    abstract static class Interruption implements Section {
        private final Payload data = new Payload();

        /** Returns once the current thread knows that it was interrupted. */
        abstract void awaitInterrupt() throws Exception;

        @Override
        public final void run() throws Exception {
            Worker reader = Worker.start(() -> {
                awaitInterrupt();
                data.expect(1);
            });
            Thread.sleep(1);
            data.put(1);
            reader.interrupt();
            reader.finish();
        }
    }

    static final class InterruptSleep extends Interruption {
        @Override
        void awaitInterrupt() {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                return;
            }
            throw new AssertionError("not interrupted");
        }
    }

    static final class InterruptWait extends Interruption {
        @Override
        synchronized void awaitInterrupt() {
            try {
                while (true) {
                    wait();
                }
            } catch (InterruptedException e) {
                // That is it.
            }
        }
    }

    static final class InterruptJoin extends Interruption {
        @Override
        void awaitInterrupt() {
            try {
                Thread.currentThread().join();
            } catch (InterruptedException e) {
                // A thread that waits for its own end has nothing else to wake it.
            }
        }
    }

    static final class InterruptPolled extends Interruption {
        @Override
        void awaitInterrupt() {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.yield();
            }
        }
    }

    static final class InterruptCleared extends Interruption {
        @Override
        void awaitInterrupt() {
            while (!Thread.interrupted()) {
                Thread.yield();
            }
        }
    }

    static final class InterruptPark extends Interruption {
        @Override
        void awaitInterrupt() {
            while (!Thread.interrupted()) {
                LockSupport.park(this);
            }
        }
    }

    static final class InterruptTake extends Interruption {
        @Override
        void awaitInterrupt() {
            try {
                new ArrayBlockingQueue<String>(1).take();
            } catch (InterruptedException e) {
                return;
            }
            throw new AssertionError("took something from an empty queue");
        }
    }

    static final class InterruptLatch extends Interruption {
        @Override
        void awaitInterrupt() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                return;
            }
            throw new AssertionError("not interrupted");
        }
    }

    static final class InterruptCondition extends Interruption {
        @Override
        void awaitInterrupt() {
            ReentrantLock lock = new ReentrantLock();
            lock.lock();
            try {
                while (true) {
                    lock.newCondition().await();
                }
            } catch (InterruptedException e) {
                // That is it.
            } finally {
                lock.unlock();
            }
        }
    }

    /** A third thread sees that the second was interrupted by the first. */
    static final class InterruptSeenByOther implements Section {
        private final Payload data = new Payload();
        private volatile boolean over;

        @Override
        public void run() throws Exception {
            Worker target = Worker.start(() -> {
                while (!over) {
                    Thread.yield();
                }
            });
            Worker reader = Worker.start(() -> {
                while (!target.isInterrupted()) {
                    Thread.yield();
                }
                data.expect(1);
            });
            data.put(1);
            target.interrupt();
            reader.finish();
            over = true;
            target.finish();
        }
    }

    /** Nothing is shared: every thread makes its own. */
    static final class Local implements Section {
        private static final ThreadLocal<Payload> LOCAL = ThreadLocal.withInitial(Payload::new);

        @Override
        public void run() throws Exception {
            Worker first = Worker.start(() -> use(1));
            Worker second = Worker.start(() -> use(2));
            use(3);
            first.finish();
            second.finish();
            LOCAL.get().expect(3);
            LOCAL.remove();
        }

        private static void use(int n) {
            LOCAL.get().put(n);
            LOCAL.get().expect(n);
        }
    }

    /** The child's value is derived from the parent's when the child is made. */
    static final class InheritableLocal implements Section {
        private static final InheritableThreadLocal<Payload> LOCAL = new InheritableThreadLocal<>() {
            @Override
            protected Payload childValue(Payload parent) {
                Payload child = new Payload();
                child.put(parent.state() + 1);
                return child;
            }
        };

        @Override
        public void run() throws Exception {
            Payload mine = new Payload();
            mine.put(1);
            LOCAL.set(mine);
            Worker child = Worker.start(() -> LOCAL.get().expect(2));
            mine.put(5);
            child.finish();
            LOCAL.remove();
        }
    }

    /** park and unpark only wake; the volatile between them brings the order. */
    static final class ParkUnpark implements Section {
        private final Payload data = new Payload();
        private volatile boolean ready;

        @Override
        public void run() throws Exception {
            Worker reader = Worker.start(() -> {
                while (!ready) {
                    LockSupport.park(this);
                }
                data.expect(1);
            });
            data.put(1);
            ready = true;
            LockSupport.unpark(reader);
            reader.finish();
        }
    }
}
