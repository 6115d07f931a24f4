import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A small search index: a writer adds documents to segments, a merger puts segments together, a
 * reader searches. The segments are guarded by a read-write lock, the rest by monitors, but for:
 *
 * <ul>
 *   <li>{@code Segment.checksum} is computed by the writer before it commits, and read by the merger
 *       after it has looked at the commits: fine as long as the commit comes first;
 *   <li>{@code Analyzer.stopWords} is replaced by the set-up before it counts itself in the metrics,
 *       and read by the writer after it has counted;
 *   <li>{@code Cache.generation} is written by the searcher after it has left the cache's lock, and
 *       read by the merger after it has cleared the cache.
 * </ul>
 */
public final class SearchIndex {
    private SearchIndex() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Text.

    static final class Document {
        final int id;
        final String title;
        final String text;

        Document(int id, String title, String text) {
            this.id = id;
            this.title = title;
            this.text = text;
        }
    }

    /** Counts whatever wants to be counted. */
    static final class Metrics {
        private final Map<String, Integer> counts = new HashMap<>();

        synchronized void count(String what) {
            counts.merge(what, 1, Integer::sum);
        }

        synchronized int of(String what) {
            return counts.getOrDefault(what, 0);
        }
    }

    /** Turns text into words. */
    static final class Analyzer {
        private final Metrics metrics;

        /** Words that are not worth an entry; replaced once, at the start. */
        List<String> stopWords = Collections.emptyList();

        Analyzer(Metrics metrics) {
            this.metrics = metrics;
        }

        void configure(List<String> words) {
            stopWords = words; // race: search-index
            metrics.count("configured");
        }

        List<String> words(String text) {
            metrics.count("analyzed");
            List<String> skipped = stopWords; // race: search-index
            List<String> words = new ArrayList<>();
            for (String word : text.toLowerCase(Locale.ROOT).split("[^a-z]+")) {
                if (!word.isEmpty() && !skipped.contains(word)) words.add(word);
            }
            return words;
        }
    }

    // The index.

    /** Postings of some documents; changed by one thread until it is committed. */
    static final class Segment {
        final int number;
        private final Map<String, TreeSet<Integer>> postings = new HashMap<>();
        private int documents;

        /** Over all postings, for whoever wants to see that nothing was lost. */
        long checksum;

        Segment(int number) {
            this.number = number;
        }

        void add(int document, List<String> words) {
            for (String word : words) {
                postings.computeIfAbsent(word, w -> new TreeSet<>()).add(document);
            }
            documents++;
        }

        void seal() {
            checksum = sum(); // race: search-index
        }

        long sum() {
            long sum = documents;
            for (Map.Entry<String, TreeSet<Integer>> entry : postings.entrySet()) {
                for (int document : entry.getValue()) sum += entry.getKey().hashCode() ^ document;
            }
            return sum;
        }

        TreeSet<Integer> find(String word) {
            return postings.getOrDefault(word, new TreeSet<>());
        }

        void addAll(Segment other) {
            for (Map.Entry<String, TreeSet<Integer>> entry : other.postings.entrySet()) {
                postings.computeIfAbsent(entry.getKey(), w -> new TreeSet<>()).addAll(entry.getValue());
            }
            documents += other.documents;
        }
    }

    /** The numbers of the segments that were sealed, in order. */
    static final class Commits {
        private final List<Integer> numbers = new ArrayList<>();

        synchronized void commit(int segment) {
            numbers.add(segment);
        }

        synchronized int last() {
            return numbers.isEmpty() ? -1 : numbers.get(numbers.size() - 1);
        }
    }

    static final class Segments {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private final List<Segment> segments = new ArrayList<>();

        void add(Segment segment) {
            lock.writeLock().lock();
            try {
                segments.add(segment);
            } finally {
                lock.writeLock().unlock();
            }
        }

        TreeSet<Integer> find(String word) {
            lock.readLock().lock();
            try {
                TreeSet<Integer> found = new TreeSet<>();
                for (Segment segment : segments) found.addAll(segment.find(word));
                return found;
            } finally {
                lock.readLock().unlock();
            }
        }

        Segment merge(int number) {
            lock.writeLock().lock();
            try {
                Segment merged = new Segment(number);
                for (Segment segment : segments) merged.addAll(segment);
                segments.clear();
                segments.add(merged);
                return merged;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    /** Results of queries. */
    static final class Cache {
        private final Map<String, TreeSet<Integer>> results = new HashMap<>();

        /** How often something was put in since the cache was made; a hint. */
        int generation;

        TreeSet<Integer> find(String query) {
            return look(query);
        }

        void store(String query, TreeSet<Integer> result) {
            put(query, result);
            generation++; // race: search-index
        }

        private synchronized TreeSet<Integer> look(String query) {
            return results.get(query);
        }

        private synchronized void put(String query, TreeSet<Integer> result) {
            results.put(query, result);
        }

        synchronized void clear() {
            results.clear();
        }

        synchronized int size() {
            return results.size();
        }
    }

    // The parties.

    static final class SetUp implements Runnable {
        private final Analyzer analyzer;

        SetUp(Analyzer analyzer) {
            this.analyzer = analyzer;
        }

        @Override
        public void run() {
            pause(40); // the list is far away
            analyzer.configure(List.of("the", "a", "of", "and"));
        }
    }

    static final class Writer implements Runnable {
        private final Analyzer analyzer;
        private final Segments segments;
        private final Commits commits;
        private final Segment segment = new Segment(0);

        Writer(Analyzer analyzer, Segments segments, Commits commits) {
            this.analyzer = analyzer;
            this.segments = segments;
            this.commits = commits;
        }

        Segment segment() {
            return segment;
        }

        @Override
        public void run() {
            pause(100); // the set-up is done by now
            String[] texts = {
                "the cat sat on the mat", "a dog and a cat", "the end of the road", "roads of gold and dogs of war"
            };
            for (int i = 0; i < 12; i++) {
                Document document = new Document(i, "title " + i, texts[i % texts.length]);
                segment.add(document.id, analyzer.words(document.title + " " + document.text));
            }
            publish();
        }

        private void publish() {
            segment.seal();
            commits.commit(segment.number);
            segments.add(segment);
        }
    }

    static final class Searcher implements Runnable {
        private final Segments segments;
        private final Cache cache;
        private int found;

        Searcher(Segments segments, Cache cache) {
            this.segments = segments;
            this.cache = cache;
        }

        @Override
        public void run() {
            pause(160); // the writer is done by now
            String[] queries = {"cat", "dog", "road", "gold", "cat", "war", "mat", "end"};
            for (String query : queries) found += search(query).size();
            cache.size();
        }

        private TreeSet<Integer> search(String query) {
            TreeSet<Integer> known = cache.find(query);
            if (known == null) {
                known = segments.find(query);
                cache.store(query, known);
            }
            pause(1);
            return known;
        }
    }

    static final class Merger implements Runnable {
        private final Segments segments;
        private final Segment sealed;
        private final Commits commits;
        private final Cache cache;
        private String state = "idle";

        Merger(Segments segments, Segment sealed, Commits commits, Cache cache) {
            this.segments = segments;
            this.sealed = sealed;
            this.commits = commits;
            this.cache = cache;
        }

        @Override
        public void run() {
            pause(240); // everybody is done by now
            merge();
        }

        private void merge() {
            int last = commits.last();
            long expected = sealed.checksum; // race: search-index
            Segment merged = segments.merge(last + 1);
            state = merged.sum() == expected ? "merged" : "different";
            cache.clear();
            if (cache.generation > 1000) state = "busy"; // race: search-index
        }
    }

    /** Everything once, in one thread: loading classes orders threads, by accident. */
    static void warmUp() {
        Metrics metrics = new Metrics();
        Analyzer analyzer = new Analyzer(metrics);
        analyzer.configure(List.of("of"));
        Segments segments = new Segments();
        Commits commits = new Commits();
        Cache cache = new Cache();
        Segment segment = new Segment(0);
        segment.add(0, analyzer.words("the end of the beginning"));
        segment.seal();
        commits.commit(0);
        segments.add(segment);
        cache.store("end", segments.find("end"));
        cache.find("end");
        new Merger(segments, segment, commits, cache).merge();
    }

    public static void main(String[] args) throws InterruptedException {
        warmUp();
        Metrics metrics = new Metrics();
        Analyzer analyzer = new Analyzer(metrics);
        Segments segments = new Segments();
        Commits commits = new Commits();
        Cache cache = new Cache();
        Writer writer = new Writer(analyzer, segments, commits);
        Searcher searcher = new Searcher(segments, cache);
        Merger merger = new Merger(segments, writer.segment(), commits, cache);
        Thread[] threads = {
            new Thread(new SetUp(analyzer), "set-up"),
            new Thread(writer, "writer"),
            new Thread(searcher, "searcher"),
            new Thread(merger, "merger")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("analyzed " + metrics.of("analyzed") + " state " + merger.state.isEmpty());
        System.out.println("found something " + (searcher.found >= 0));
    }
}
