package ordered;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Executors and the futures they give. */
final class Pools {
    private Pools() {}

    /** From the caller to a task in a thread that is already there, and back through its future. */
    abstract static class Pool implements Section {
        private final ExecutorService pool;

        Pool(ExecutorService pool) {
            this.pool = pool;
        }

        @Override
        public final void run() throws Exception {
            pool.submit(() -> {}).get();
            Payload data = new Payload();
            data.put(1);
            Future<Integer> future = pool.submit(() -> {
                data.expect(1);
                data.put(2);
                return 2;
            });
            data.expect(future.get());
            close(pool);
        }
    }

    static final class Fixed extends Pool {
        Fixed() {
            super(Executors.newFixedThreadPool(2));
        }
    }

    static final class Cached extends Pool {
        Cached() {
            super(Executors.newCachedThreadPool());
        }
    }

    static final class Single extends Pool {
        Single() {
            super(Executors.newSingleThreadExecutor());
        }
    }

    static final class Scheduling extends Pool {
        Scheduling() {
            super(Executors.newScheduledThreadPool(2));
        }
    }

    static final class WorkStealing extends Pool {
        WorkStealing() {
            super(new ForkJoinPool(2));
        }
    }

    static final class InvokeAll implements Section {
        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            Payload[] data = {new Payload(), new Payload(), new Payload()};
            List<Callable<Void>> tasks = new ArrayList<>();
            for (Payload each : data) {
                tasks.add(() -> {
                    each.put(1);
                    return null;
                });
            }
            pool.invokeAll(tasks);
            for (Payload each : data) {
                each.expect(1);
            }
            close(pool);
        }
    }

    static final class InvokeAny implements Section {
        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            Callable<Payload> task = () -> {
                Payload mine = new Payload();
                mine.put(1);
                return mine;
            };
            pool.invokeAny(List.of(task, task)).expect(1);
            close(pool);
        }
    }

    static final class CompletionService implements Section {
        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            ExecutorCompletionService<Payload> service = new ExecutorCompletionService<>(pool);
            for (int i = 1; i <= 5; i++) {
                int n = i;
                service.submit(() -> {
                    Payload mine = new Payload();
                    mine.put(n);
                    return mine;
                });
            }
            for (int i = 1; i <= 5; i++) {
                Payload data = service.take().get();
                data.expect(data.state());
            }
            close(pool);
        }
    }

    /** No future: only the end of the pool tells that the tasks are done. */
    static final class AwaitTermination implements Section {
        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            Payload first = new Payload();
            Payload second = new Payload();
            pool.execute(() -> first.put(1));
            pool.execute(() -> second.put(2));
            close(pool);
            first.expect(1);
            second.expect(2);
        }
    }

    /** A worker that dies of an exception is replaced; the next task runs in another thread. */
    static final class WorkerReplaced implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task);
                thread.setUncaughtExceptionHandler((t, e) -> {});
                return thread;
            });
            pool.execute(() -> {
                data.put(1);
                throw new IllegalStateException("on purpose");
            });
            Future<?> future = pool.submit(() -> {
                data.expect(1);
                data.put(2);
            });
            future.get();
            data.expect(2);
            close(pool);
        }
    }

    static final class Delayed implements Section {
        @Override
        public void run() throws Exception {
            ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
            Payload data = new Payload();
            pool.submit(() -> {}).get();
            data.put(1);
            pool.schedule(() -> {
                data.expect(1);
                data.put(2);
            }, 1, TimeUnit.MILLISECONDS).get();
            data.expect(2);
            close(pool);
        }
    }

    /** Runs of a repeated task follow each other, in whatever threads. */
    static final class FixedRate implements Section {
        private final Payload data = new Payload();
        private int runs;

        @Override
        public void run() throws Exception {
            ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
            CountDownLatch fifth = new CountDownLatch(1);
            Future<?> future = pool.scheduleAtFixedRate(() -> {
                if (runs == 5) {
                    return;
                }
                if (runs > 0) {
                    data.expect(runs);
                }
                runs++;
                data.put(runs);
                if (runs == 5) {
                    fifth.countDown();
                }
            }, 0, 100, TimeUnit.MICROSECONDS);
            fifth.await();
            data.expect(5);
            future.cancel(false);
            close(pool);
        }
    }

    static final class Task implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            FutureTask<Payload> task = new FutureTask<>(() -> {
                data.put(1);
                return data;
            });
            Worker worker = Worker.start(task::run);
            task.get().expect(1);
            worker.finish();
        }
    }

    static final class TaskPolled implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            FutureTask<Void> task = new FutureTask<>(() -> data.put(1), null);
            Worker worker = Worker.start(task::run);
            while (!task.isDone()) {
                Thread.yield();
            }
            data.expect(1);
            worker.finish();
        }
    }

    /** What was done before cancel() is seen by who finds the task cancelled. */
    static final class TaskCancelled implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            FutureTask<Void> task = new FutureTask<>(() -> {}, null);
            Worker worker = Worker.start(() -> {
                data.put(1);
                task.cancel(false);
            });
            while (!task.isCancelled()) {
                Thread.yield();
            }
            data.expect(1);
            worker.finish();
        }
    }

    /** Ends the pool and waits for its threads. */
    static void close(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new AssertionError("the pool does not end");
        }
    }
}
