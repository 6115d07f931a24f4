import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.IntStream;
import javax.tools.ToolProvider;

/**
 * Links every class named in a file, uses what the models touch, then compiles this source with
 * the compiler just linked.
 */
class Probed {
    public static void main(String[] args) throws Exception {
        List<String> names = Files.readAllLines(Path.of(args[0]));
        int linked = 0;
        for (String name : names) {
            try {
                // Asking for methods links, and linking verifies; nothing is initialised.
                Class.forName(name, false, Probed.class.getClassLoader()).getDeclaredMethods();
                linked++;
            } catch (Throwable t) {
                System.out.println("FAILED " + name + ": " + t);
            }
        }
        // It is the patched classes that were linked.
        Thread.class.getDeclaredField("$pf");
        System.out.println("linked " + linked + " of " + names.size());
        use();
        int exit = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", args[2], args[1]);
        System.out.println("compiler exit " + exit);
    }

    private static void use() throws Exception {
        Map<Integer, Integer> map = new ConcurrentSkipListMap<>();
        IntStream.range(0, 1000).parallel().forEach(i -> map.merge(i % 10, 1, Integer::sum));
        if (map.values().stream().mapToInt(Integer::intValue).sum() != 1000) {
            System.out.println("FAILED skip list");
        }
        var pool = Executors.newFixedThreadPool(2);
        var lock = new ReentrantReadWriteLock();
        int[] count = {0};
        for (int i = 0; i < 100; i++) {
            pool.execute(() -> {
                lock.writeLock().lock();
                try {
                    count[0]++;
                } finally {
                    lock.writeLock().unlock();
                }
            });
        }
        pool.shutdown();
        while (!pool.isTerminated()) {
            Thread.onSpinWait();
        }
        if (count[0] != 100 || CompletableFuture.supplyAsync(() -> 7).get() != 7) {
            System.out.println("FAILED pool");
        }
        StampedLock stamped = new StampedLock();
        stamped.unlock(stamped.tryConvertToWriteLock(stamped.readLock()));
        if (stamped.isWriteLocked() || Thread.currentThread().getState() != Thread.State.RUNNABLE) {
            System.out.println("FAILED lock");
        }
    }
}
