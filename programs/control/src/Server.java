import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The shape of a server: a queue of requests, a pool of eight threads that answers them, a cache
 * they share, and timers that clean up and report. The argument is the number of requests.
 */
public final class Server {
    static final class Request {
        final int number;
        final CountDownLatch answered = new CountDownLatch(1);
        volatile long answer;

        Request(int number) {
            this.number = number;
        }
    }

    private final BlockingQueue<Request> inbox = new LinkedBlockingQueue<>(16);
    private final Map<Integer, Long> cache = new ConcurrentHashMap<>();
    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong sweeps = new AtomicLong();
    private final ExecutorService pool = Executors.newFixedThreadPool(8);
    private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(2);

    private Server() {}

    private long compute(int key) {
        long value = key;
        for (int i = 0; i < 50; i++) {
            value = value * 31 + i;
        }
        return value;
    }

    private void serve() {
        try {
            while (true) {
                Request request = inbox.take();
                if (request.number < 0) {
                    return;
                }
                request.answer = cache.computeIfAbsent(request.number % 10, this::compute);
                answered.incrementAndGet();
                request.answered.countDown();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(int requests) throws Exception {
        timers.scheduleAtFixedRate(() -> {
            cache.clear();
            sweeps.incrementAndGet();
        }, 5, 5, TimeUnit.MILLISECONDS);
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            workers.add(pool.submit(this::serve));
        }
        List<Request> sent = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            Request request = new Request(i);
            sent.add(request);
            inbox.put(request);
            if (i % 20 == 19) {
                Thread.sleep(6);
            }
        }
        long sum = 0;
        for (Request request : sent) {
            if (!request.answered.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no answer to " + request.number);
            }
            sum += request.answer;
        }
        for (int i = 0; i < 8; i++) {
            inbox.put(new Request(-1));
        }
        for (Future<?> worker : workers) {
            worker.get();
        }
        pool.shutdown();
        timers.shutdownNow();
        boolean ended = pool.awaitTermination(5, TimeUnit.SECONDS)
                && timers.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println(answered + " answered, sum " + sum + ", swept " + (sweeps.get() > 0)
                + ", ended " + ended);
    }

    public static void main(String[] args) throws Exception {
        new Server().run(args.length > 0 ? Integer.parseInt(args[0]) : 60);
    }
}
