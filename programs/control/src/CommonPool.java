import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Work for the pool that all programs share: its threads are daemons, and as many as there are cores. */
public final class CommonPool {
    static final class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1L;
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from < 100) {
                return IntStream.range(from, to).asLongStream().sum();
            }
            int middle = (from + to) >>> 1;
            Sum left = new Sum(from, middle);
            left.fork();
            return new Sum(middle, to).compute() + left.join();
        }
    }

    private CommonPool() {}

    public static void main(String[] args) {
        System.out.println(ForkJoinPool.commonPool().invoke(new Sum(0, 2000)));
        List<Integer> squares = IntStream.range(0, 20).parallel().map(i -> i * i).boxed()
                .collect(Collectors.toList());
        System.out.println(squares);
        CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(() -> 6)
                .thenCombineAsync(CompletableFuture.supplyAsync(() -> 7), (a, b) -> a * b)
                .thenApplyAsync(n -> n);
        System.out.println(answer.join());
        System.out.println(CompletableFuture.supplyAsync(() -> {
            if (squares.size() == 20) {
                throw new IllegalStateException("meant");
            }
            return "?";
        }).exceptionally(e -> e.getCause().getMessage()).join());
    }
}
