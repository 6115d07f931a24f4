import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A job queue with workers, a cache of results, a progress monitor and a configuration that is
 * loaded late. Everything that looks shared is guarded by some lock; three accesses are not:
 *
 * <ul>
 *   <li>{@code Config.retries} is set by the loader before it registers itself in the registry, and
 *       read by a worker after it has looked into the registry: fine as long as the loader comes first;
 *   <li>{@code Cache.lastEvicted} is written after the cache's lock was let go, and read by the
 *       monitor after it asked the cache for its size;
 *   <li>{@code Statistics.slowest} is written before the statistics' lock is taken, and read by the
 *       monitor after it has held that lock.
 * </ul>
 *
 * In the usual order a lock that happens to be taken in between orders each of them.
 */
public final class JobQueue {
    private JobQueue() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Jobs.

    /** What a job computes from. */
    static final class Job {
        final int id;
        final String kind;
        final int[] input;
        int attempts;

        Job(int id, String kind, int[] input) {
            this.id = id;
            this.kind = kind;
            this.input = input;
        }

        /** The key under which equal jobs find each other's results. */
        String key() {
            StringBuilder text = new StringBuilder(kind);
            for (int n : input) text.append(':').append(n);
            return text.toString();
        }

        long compute() {
            long result = 17;
            for (int n : input) {
                switch (kind) {
                    case "sum":
                        result += n;
                        break;
                    case "product":
                        result *= n == 0 ? 1 : n;
                        break;
                    default:
                        result = result * 31 + n;
                }
            }
            return result;
        }

        @Override
        public String toString() {
            return "job " + id + " (" + kind + ", attempt " + attempts + ")";
        }
    }

    /** A bounded queue with an explicit lock; closed, it hands out what is left. */
    static final class Queue {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition notEmpty = lock.newCondition();
        private final Condition notFull = lock.newCondition();
        private final ArrayDeque<Job> jobs = new ArrayDeque<>();
        private final int capacity;
        private boolean closed;
        private long passed;

        Queue(int capacity) {
            this.capacity = capacity;
        }

        void put(Job job) throws InterruptedException {
            lock.lock();
            try {
                while (jobs.size() == capacity) notFull.await();
                jobs.addLast(job);
                notEmpty.signal();
            } finally {
                lock.unlock();
            }
        }

        /** The next job; null once the queue is closed and empty. */
        Job take() throws InterruptedException {
            lock.lock();
            try {
                while (jobs.isEmpty() && !closed) notEmpty.await();
                Job job = jobs.pollFirst();
                if (job != null) {
                    passed++;
                    notFull.signal();
                }
                return job;
            } finally {
                lock.unlock();
            }
        }

        void close() {
            lock.lock();
            try {
                closed = true;
                notEmpty.signalAll();
            } finally {
                lock.unlock();
            }
        }

        long passed() {
            lock.lock();
            try {
                return passed;
            } finally {
                lock.unlock();
            }
        }
    }

    // Results.

    /** Least recently used results go first. */
    static final class Cache {
        private final LinkedHashMap<String, Long> entries = new LinkedHashMap<>(16, 0.75f, true);
        private final int capacity;
        private long hits;
        private long misses;
        private boolean closed;

        /** For the curious: not guarded by the lock, though it looks so. */
        String lastEvicted = "none";

        Cache(int capacity) {
            this.capacity = capacity;
        }

        synchronized Long find(String key) {
            Long found = entries.get(key);
            if (found == null) misses++;
            else hits++;
            return found;
        }

        void store(String key, long value) {
            String evicted = insert(key, value);
            if (evicted != null) lastEvicted = evicted; // race: job-queue
        }

        private synchronized String insert(String key, long value) {
            entries.put(key, value);
            if (entries.size() <= capacity) return null;
            String oldest = entries.keySet().iterator().next();
            entries.remove(oldest);
            return oldest;
        }

        synchronized int size() {
            return entries.size();
        }

        /** Nothing is stored any more. */
        synchronized void close() {
            closed = true;
        }

        synchronized boolean isClosed() {
            return closed;
        }

        synchronized long hits() {
            return hits;
        }

        synchronized long misses() {
            return misses;
        }
    }

    /** How long jobs took, by kind. */
    static final class Statistics {
        private final Map<String, Long> counts = new HashMap<>();
        private final Map<String, Long> totals = new HashMap<>();
        private long all;

        /** Thought to be published by the lock that is taken afterwards. */
        String slowest = "nobody";

        void add(Job job, long result) {
            if (result % 7 == 0 || job.id == 0) slowest = job.toString(); // race: job-queue
            count(job.kind, result);
        }

        private synchronized void count(String kind, long result) {
            counts.merge(kind, 1L, Long::sum);
            totals.merge(kind, result, Long::sum);
            all++;
        }

        synchronized long all() {
            return all;
        }

        synchronized List<String> lines() {
            List<String> lines = new ArrayList<>();
            for (Map.Entry<String, Long> e : counts.entrySet()) {
                lines.add(e.getKey() + " " + e.getValue() + " " + totals.get(e.getKey()));
            }
            return lines;
        }
    }

    // Configuration.

    /** Names that have been registered; says nothing about what they mean. */
    static final class Registry {
        private final Map<String, Object> names = new HashMap<>();

        synchronized void register(String name, Object value) {
            names.put(name, value);
        }

        synchronized Object look(String name) {
            return names.get(name);
        }
    }

    static final class Config {
        /** Set before the configuration is registered. */
        int retries = 1;

        String name = "built-in";
    }

    /** Reads the configuration at its leisure. */
    static final class Loader implements Runnable {
        private final Registry registry;
        private final Config config;

        Loader(Registry registry, Config config) {
            this.registry = registry;
            this.config = config;
        }

        @Override
        public void run() {
            pause(40); // the file is far away
            parse("retries=3;name=fast");
            registry.register("config", config);
        }

        private void parse(String text) {
            for (String part : text.split(";")) {
                String[] pair = part.split("=");
                if (pair[0].equals("retries")) config.retries = Integer.parseInt(pair[1]); // race: job-queue
            }
        }
    }

    // The parties.

    static final class Worker implements Runnable {
        private final Queue queue;
        private final Cache cache;
        private final Statistics statistics;
        private final Registry registry;
        private final Config config;

        Worker(Queue queue, Cache cache, Statistics statistics, Registry registry, Config config) {
            this.queue = queue;
            this.cache = cache;
            this.statistics = statistics;
            this.registry = registry;
            this.config = config;
        }

        @Override
        public void run() {
            try {
                for (Job job = queue.take(); job != null; job = queue.take()) work(job);
                cache.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void work(Job job) {
            pause(1);
            int limit = limit();
            Long known = cache.find(job.key());
            while (known == null && job.attempts < limit) {
                job.attempts++;
                long result = job.compute();
                if (result != 0) {
                    known = result;
                    cache.store(job.key(), result);
                }
            }
            if (known != null) statistics.add(job, known);
        }

        /** The registry is asked first: whoever is in it has been set up. */
        private int limit() {
            registry.look("config");
            return config.retries; // race: job-queue
        }
    }

    static final class Producer implements Runnable {
        private final Queue queue;
        private final int jobs;

        Producer(Queue queue, int jobs) {
            this.queue = queue;
            this.jobs = jobs;
        }

        @Override
        public void run() {
            String[] kinds = {"sum", "product", "hash"};
            try {
                pause(100); // the loader is done by now
                for (int i = 0; i < jobs; i++) queue.put(new Job(i, kinds[i % 3], new int[] {i % 20, i % 7, 3}));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                queue.close();
            }
        }
    }

    /** Prints how far things are, late enough for there to be something. */
    static final class Monitor implements Runnable {
        private final Cache cache;
        private final Statistics statistics;

        Monitor(Cache cache, Statistics statistics) {
            this.cache = cache;
            this.statistics = statistics;
        }

        @Override
        public void run() {
            pause(240); // all jobs are done by now
            report();
        }

        private void report() {
            int size = cache.size();
            String evicted = cache.lastEvicted; // race: job-queue
            long all = statistics.all();
            String slowest = statistics.slowest; // race: job-queue
            if (size < 0 || all < 0 || evicted == slowest) throw new IllegalStateException();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Queue queue = new Queue(8);
        Cache cache = new Cache(3);
        for (int i = 0; i < 3; i++) cache.store("warm " + i, i);
        Statistics statistics = new Statistics();
        Registry registry = new Registry();
        Config config = new Config();
        List<Thread> threads = new ArrayList<>();
        threads.add(new Thread(new Loader(registry, config), "loader"));
        // One worker: what workers do to each other is not what this is about.
        threads.add(new Thread(new Worker(queue, cache, statistics, registry, config), "worker"));
        threads.add(new Thread(new Producer(queue, 24), "producer"));
        threads.add(new Thread(new Monitor(cache, statistics), "monitor"));
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("jobs " + queue.passed() + " cached " + cache.size() + (cache.isClosed() ? "" : " still open"));
        System.out.println("hits " + cache.hits() + " misses " + cache.misses());
        for (String line : statistics.lines()) System.out.println(line);
    }
}
