package ordered;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;

/** Completable futures, publishers and timers. */
final class Futures {
    private Futures() {}

    private static Payload made(int n) {
        Payload data = new Payload();
        data.put(n);
        return data;
    }

    /** Checks one state and writes the next. */
    private static Payload step(Payload data) {
        int n = data.state();
        data.expect(n);
        data.put(n + 1);
        return data;
    }

    static final class Complete implements Section {
        private final CompletableFuture<Void> future = new CompletableFuture<>();
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                future.complete(null);
            });
            future.join();
            data.expect(1);
            writer.finish();
        }
    }

    static final class CompletePolled implements Section {
        private final CompletableFuture<Payload> future = new CompletableFuture<>();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> future.complete(made(1)));
            Payload data;
            while ((data = future.getNow(null)) == null) {
                Thread.yield();
            }
            data.expect(1);
            writer.finish();
        }
    }

    static final class ThenApply implements Section {
        @Override
        public void run() throws Exception {
            CompletableFuture.supplyAsync(() -> made(1))
                    .thenApply(Futures::step)
                    .thenApply(Futures::step)
                    .get()
                    .expect(3);
        }
    }

    /** Each stage may run in another thread. */
    static final class ThenApplyAsync implements Section {
        @Override
        public void run() throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            CompletableFuture.supplyAsync(() -> made(1), pool)
                    .thenApplyAsync(Futures::step, pool)
                    .thenApplyAsync(Futures::step)
                    .thenComposeAsync(data -> CompletableFuture.supplyAsync(() -> step(data)), pool)
                    .get(60, TimeUnit.SECONDS)
                    .expect(4);
            Pools.close(pool);
        }
    }

    static final class ThenCombine implements Section {
        @Override
        public void run() throws Exception {
            CompletableFuture<Payload> left = CompletableFuture.supplyAsync(() -> made(1));
            CompletableFuture<Payload> right = CompletableFuture.supplyAsync(() -> made(2));
            left.thenCombineAsync(right, (l, r) -> {
                l.expect(1);
                r.expect(2);
                l.put(3);
                return l;
            }).join().expect(3);
        }
    }

    static final class AllOf implements Section {
        @Override
        public void run() throws Exception {
            Payload[] data = {new Payload(), new Payload(), new Payload()};
            CompletableFuture<?>[] futures = new CompletableFuture<?>[data.length];
            for (int i = 0; i < data.length; i++) {
                Payload mine = data[i];
                futures[i] = CompletableFuture.runAsync(() -> mine.put(1));
            }
            CompletableFuture.allOf(futures).join();
            for (Payload each : data) {
                each.expect(1);
            }
        }
    }

    static final class AnyOf implements Section {
        @Override
        public void run() throws Exception {
            Object first = CompletableFuture.anyOf(
                    CompletableFuture.supplyAsync(() -> made(1)),
                    CompletableFuture.supplyAsync(() -> made(1))).join();
            ((Payload) first).expect(1);
        }
    }

    static final class Exceptionally implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            CompletableFuture.<Payload>supplyAsync(() -> {
                data.put(1);
                throw new IllegalStateException("on purpose");
            }).exceptionally(e -> {
                data.expect(1);
                data.put(2);
                return data;
            }).join().expect(2);
        }
    }

    static final class DelayedExecutor implements Section {
        @Override
        public void run() throws Exception {
            Payload data = new Payload();
            Executor later = CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);
            data.put(1);
            CompletableFuture.runAsync(() -> step(data), later).join();
            data.expect(2);
        }
    }

    /** Items and the subscriber's own state, which passes from thread to thread between items. */
    static final class Publisher implements Section {
        private static final int ITEMS = 20;

        private static final class Counter implements Flow.Subscriber<Payload> {
            private final CountDownLatch over = new CountDownLatch(1);
            private Flow.Subscription subscription;
            private int seen;
            private Throwable failure;

            @Override
            public void onSubscribe(Flow.Subscription given) {
                subscription = given;
                given.request(1);
            }

            @Override
            public void onNext(Payload item) {
                seen++;
                item.expect(seen);
                subscription.request(1);
            }

            @Override
            public void onError(Throwable e) {
                failure = e;
                over.countDown();
            }

            @Override
            public void onComplete() {
                over.countDown();
            }
        }

        @Override
        public void run() throws Exception {
            Counter counter = new Counter();
            try (SubmissionPublisher<Payload> publisher = new SubmissionPublisher<>()) {
                publisher.subscribe(counter);
                for (int n = 1; n <= ITEMS; n++) {
                    publisher.submit(made(n));
                }
            }
            counter.over.await();
            if (counter.failure != null || counter.seen != ITEMS) {
                throw new AssertionError("lost an item", counter.failure);
            }
        }
    }

    /** From the caller to the timer's thread, and from one of its tasks to the next. */
    static final class TimerTasks implements Section {
        private final Payload data = new Payload();
        private final CountDownLatch over = new CountDownLatch(1);

        @Override
        public void run() throws Exception {
            Timer timer = new Timer(true);
            Thread.sleep(1);
            data.put(1);
            timer.schedule(task(() -> step(data)), 0);
            timer.schedule(task(() -> {
                step(data);
                over.countDown();
            }), 1);
            over.await();
            data.expect(3);
            timer.cancel();
        }

    }

    /** A task is cancelled by one thread and purged by another: the timer's business. */
    static final class TimerPurge implements Section {
        @Override
        public void run() throws Exception {
            Timer timer = new Timer(true);
            TimerTask late = task(() -> {});
            timer.schedule(late, TimeUnit.HOURS.toMillis(1));
            Worker canceller = Worker.start(late::cancel);
            Thread.sleep(20);
            timer.purge();
            canceller.finish();
            timer.cancel();
        }
    }

    private static TimerTask task(Runnable body) {
        return new TimerTask() {
            @Override
            public void run() {
                body.run();
            }
        };
    }
}
