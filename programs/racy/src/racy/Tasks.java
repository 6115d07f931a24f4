package racy;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Threads that somebody else started. */
final class Tasks {
    private Tasks() {}

    static final class Executor implements Section {
        int x;

        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            Gate gate = new Gate(2);
            Runnable count = () -> {
                gate.pass();
                x++; // race: executor
            };
            pool.execute(count);
            pool.execute(count);
            pool.shutdown();
            pool.awaitTermination(30, TimeUnit.SECONDS);
        }
    }

    /** The caller does not wait for the future before it reads. */
    static final class FutureNotAwaited implements Section {
        int x;
        int seen;

        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newSingleThreadExecutor();
            Gate gate = new Gate(2);
            var future = pool.submit(() -> {
                gate.pass();
                x = 1; // race: future-not-awaited
            });
            gate.pass();
            seen = x; // race: future-not-awaited
            future.get();
            pool.shutdown();
        }
    }

    static final class ParallelStream implements Section {
        int sum;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            IntStream.rangeClosed(1, 2).parallel().forEach(i -> {
                gate.pass();
                sum += i; // race: parallel-stream
            });
        }
    }

    static final class ForkJoin implements Section {
        long x;

        final class Half extends RecursiveAction {
            private static final long serialVersionUID = 1;
            private final transient Gate gate;

            Half(Gate gate) {
                this.gate = gate;
            }

            @Override
            protected void compute() {
                gate.pass();
                x++; // race: fork-join
            }
        }

        @Override
        public void run() throws Exception {
            ForkJoinPool pool = new ForkJoinPool(2);
            Gate gate = new Gate(2);
            var first = pool.submit(new Half(gate));
            var second = pool.submit(new Half(gate));
            first.get();
            second.get();
            pool.shutdown();
        }
    }

    static final class TimerAgainstMain implements Section {
        int x;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            CountDownLatch end = new CountDownLatch(1);
            Timer timer = new Timer("timer", true);
            timer.schedule(new TimerTask() {
                @Override
                public void run() {
                    gate.pass();
                    x = 1; // race: timer
                    end.countDown();
                }
            }, 0);
            gate.pass();
            x = 2; // race: timer
            end.await();
            timer.cancel();
        }
    }

    static final class AsyncAgainstMain implements Section {
        int x;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            CompletableFuture<Void> future = CompletableFuture.runAsync(() -> {
                gate.pass();
                x = 1; // race: completable-future
            });
            gate.pass();
            x = 2; // race: completable-future
            future.get();
        }
    }

    /** A value put into the thread-locals of two threads is not local to either. */
    static final class ThreadLocalShared implements Section {
        static final class Buffer {
            int used;
        }

        @Override
        public void run() throws Exception {
            ThreadLocal<Buffer> local = new ThreadLocal<>();
            Buffer buffer = new Buffer();
            Duel.Body use = () -> {
                local.set(buffer);
                local.get().used++; // race: thread-local-shared
            };
            Duel.run(use, use);
        }
    }

    /** A child inherits the very object, not a copy of it. */
    static final class InheritedLocal implements Section {
        static final class Context {
            String user = "nobody";
        }

        @Override
        public void run() throws Exception {
            InheritableThreadLocal<Context> context = new InheritableThreadLocal<>();
            context.set(new Context());
            Gate gate = new Gate(2);
            Thread child = new Thread(() -> {
                Context mine = context.get();
                gate.pass();
                mine.user = "child"; // race: inherited-local
            });
            child.start();
            Context mine = context.get();
            gate.pass();
            mine.user = "parent"; // race: inherited-local
            child.join();
            context.remove();
        }
    }

    /** The handler of an uncaught exception runs in the thread that dies. */
    static final class UncaughtHandler implements Section {
        String last;

        @Override
        public void run() throws Exception {
            Gate gate = new Gate(2);
            Thread thread = new Thread(() -> {
                throw new IllegalStateException("on purpose");
            });
            thread.setUncaughtExceptionHandler((t, e) -> {
                String message = e.getMessage();
                gate.pass();
                last = message; // race: uncaught-handler
            });
            thread.start();
            gate.pass();
            last = "none"; // race: uncaught-handler
            thread.join();
        }
    }

    /** One thread is long gone when the other is made, but nobody has asked. */
    static final class EndedUnnoticed implements Section {
        int x;

        @Override
        public void run() throws Exception {
            Thread first = new Thread(() -> x = 1); // race: ended-unnoticed
            first.start();
            Thread.sleep(100);
            Thread second = new Thread(() -> x = 2); // race: ended-unnoticed
            second.start();
            second.join();
            first.join();
        }
    }
}
