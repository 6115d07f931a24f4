package ordered;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Fork and join, parallel streams, and the parallel operations on arrays. */
final class Parallel {
    private static final int SIZE = 2_000;

    private Parallel() {}

    /** Each half fills its part of the array; the parent reads all of it. */
    static final class Action implements Section {
        private static final class Fill extends RecursiveAction {
            private static final long serialVersionUID = 1;
            private final int[] cells;
            private final int from;
            private final int to;

            Fill(int[] cells, int from, int to) {
                this.cells = cells;
                this.from = from;
                this.to = to;
            }

            @Override
            protected void compute() {
                if (to - from <= 100) {
                    for (int i = from; i < to; i++) {
                        cells[i] = i;
                    }
                    return;
                }
                int middle = (from + to) >>> 1;
                invokeAll(new Fill(cells, from, middle), new Fill(cells, middle, to));
                expectIndices(cells, from, to);
            }
        }

        @Override
        public void run() throws Exception {
            int[] cells = new int[SIZE];
            ForkJoinPool pool = new ForkJoinPool(2);
            pool.invoke(new Fill(cells, 0, SIZE));
            expectIndices(cells, 0, SIZE);
            Pools.close(pool);
        }
    }

    /** Results that are plain objects, made by a child and changed by its parent. */
    static final class Task implements Section {
        private static final class Count extends RecursiveTask<Payload> {
            private static final long serialVersionUID = 1;
            private final int depth;

            Count(int depth) {
                this.depth = depth;
            }

            @Override
            protected Payload compute() {
                if (depth == 0) {
                    Payload leaf = new Payload();
                    leaf.put(1);
                    return leaf;
                }
                Count left = new Count(depth - 1);
                left.fork();
                Payload right = new Count(depth - 1).compute();
                Payload joined = left.join();
                joined.expect(1 << (depth - 1));
                joined.put(joined.state() + right.state());
                return joined;
            }
        }

        @Override
        public void run() throws Exception {
            ForkJoinPool pool = new ForkJoinPool(2);
            pool.submit(new Count(6)).get().expect(64);
            Pools.close(pool);
        }
    }

    /** Nobody joins: whoever completes last goes on to the parent. */
    static final class Completer implements Section {
        private static final class Sum extends CountedCompleter<Long> {
            private static final long serialVersionUID = 1;
            private final int[] cells;
            private final int from;
            private final int to;
            private Sum left;
            private Sum right;
            private long sum;

            Sum(CountedCompleter<?> parent, int[] cells, int from, int to) {
                super(parent);
                this.cells = cells;
                this.from = from;
                this.to = to;
            }

            @Override
            public void compute() {
                if (to - from <= 100) {
                    for (int i = from; i < to; i++) {
                        sum += cells[i];
                    }
                } else {
                    int middle = (from + to) >>> 1;
                    left = new Sum(this, cells, from, middle);
                    right = new Sum(this, cells, middle, to);
                    setPendingCount(2);
                    left.fork();
                    right.fork();
                }
                tryComplete();
            }

            @Override
            public void onCompletion(CountedCompleter<?> caller) {
                if (left != null) {
                    sum = left.sum + right.sum;
                }
            }

            @Override
            public Long getRawResult() {
                return sum;
            }
        }

        @Override
        public void run() throws Exception {
            int[] cells = new int[SIZE];
            Arrays.fill(cells, 3);
            long sum = new Sum(null, cells, 0, SIZE).invoke();
            expect(sum == 3L * SIZE);
        }
    }

    /** Submitted from outside the pool, awaited from outside. */
    static final class Adapted implements Section {
        @Override
        public void run() throws Exception {
            Payload data = new Payload();
            ForkJoinPool pool = new ForkJoinPool(2);
            pool.submit(() -> {}).join();
            data.put(1);
            ForkJoinTask<?> task = pool.submit(() -> {
                data.expect(1);
                data.put(2);
            });
            while (!task.isDone()) {
                Thread.yield();
            }
            data.expect(2);
            Pools.close(pool);
        }
    }

    static final class StreamReduce implements Section {
        @Override
        public void run() {
            int[] weights = new int[SIZE];
            Arrays.fill(weights, 2);
            long sum = IntStream.range(0, SIZE).parallel().mapToLong(i -> weights[i]).reduce(0, Long::sum);
            expect(sum == 2L * SIZE);
        }
    }

    /** The containers are plain; each belongs to one thread until they are merged. */
    static final class StreamCollect implements Section {
        @Override
        public void run() {
            List<Integer> list = IntStream.range(0, SIZE).parallel().boxed().collect(Collectors.toList());
            expect(list.size() == SIZE);
            for (int i = 0; i < SIZE; i++) {
                expect(list.get(i) == i);
            }
        }
    }

    static final class StreamGroup implements Section {
        @Override
        public void run() {
            var groups = IntStream.range(0, SIZE).parallel().boxed()
                    .collect(Collectors.groupingByConcurrent(i -> i % 10));
            expect(groups.size() == 10);
            for (List<Integer> group : groups.values()) {
                expect(group.size() == SIZE / 10);
            }
        }
    }

    /** Plain objects go from the stream's threads through a concurrent queue to the caller. */
    static final class StreamForEach implements Section {
        @Override
        public void run() {
            Queue<Payload> sink = new ConcurrentLinkedQueue<>();
            IntStream.rangeClosed(1, 200).parallel().forEach(i -> {
                Payload data = new Payload();
                data.put(i);
                sink.add(data);
            });
            expect(sink.size() == 200);
            for (Payload data : sink) {
                data.expect(data.state());
            }
        }
    }

    /** Every element of an array is written by one thread; the end of the stream publishes them. */
    static final class StreamSlots implements Section {
        @Override
        public void run() {
            int[] cells = new int[SIZE];
            IntStream.range(0, SIZE).parallel().forEach(i -> cells[i] = i);
            expectIndices(cells, 0, SIZE);
        }
    }

    static final class StreamSorted implements Section {
        @Override
        public void run() {
            Integer[] sorted = IntStream.range(0, 10_000).parallel()
                    .mapToObj(i -> 9_999 - i)
                    .sorted()
                    .toArray(Integer[]::new);
            for (int i = 0; i < sorted.length; i++) {
                expect(sorted[i] == i);
            }
        }
    }

    static final class SortNumbers implements Section {
        @Override
        public void run() {
            int[] cells = new int[20_000];
            for (int i = 0; i < cells.length; i++) {
                cells[i] = (i * 7_919) % cells.length;
            }
            Arrays.parallelSort(cells);
            expectIndices(cells, 0, cells.length);
        }
    }

    static final class SortObjects implements Section {
        @Override
        public void run() {
            Integer[] cells = new Integer[20_000];
            for (int i = 0; i < cells.length; i++) {
                cells[i] = (i * 7_919) % cells.length;
            }
            Arrays.parallelSort(cells, Comparator.reverseOrder());
            for (int i = 0; i < cells.length; i++) {
                expect(cells[i] == cells.length - 1 - i);
            }
        }
    }

    static final class Prefix implements Section {
        @Override
        public void run() {
            int[] cells = new int[SIZE];
            Arrays.fill(cells, 1);
            cells[0] = 0;
            Arrays.parallelPrefix(cells, Integer::sum);
            expectIndices(cells, 0, SIZE);
        }
    }

    static final class SetAll implements Section {
        @Override
        public void run() {
            int[] cells = new int[SIZE];
            Arrays.parallelSetAll(cells, i -> i);
            expectIndices(cells, 0, SIZE);
        }
    }

    private static void expectIndices(int[] cells, int from, int to) {
        for (int i = from; i < to; i++) {
            expect(cells[i] == i);
        }
    }

    private static void expect(boolean held) {
        if (!held) {
            throw new AssertionError("saw something unfinished");
        }
    }
}
