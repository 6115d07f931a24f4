import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What differs from run to run by itself: clocks, random numbers without a seed, identity hashes
 * and the order of sets. With the argument "show" it is printed, which under control must be the
 * same in every run of one seed; without it only what holds in every run.
 */
public final class Chance {
    private static final Map<Object, Integer> BY_IDENTITY = new HashMap<>();
    private static final Object lock = new Object();

    private Chance() {}

    static String show() {
        StringBuilder text = new StringBuilder();
        text.append(new Random().nextInt()).append(' ');
        text.append(Math.random()).append(' ');
        text.append(ThreadLocalRandom.current().nextInt()).append(' ');
        text.append(System.nanoTime()).append(' ').append(System.currentTimeMillis()).append(' ');
        text.append(System.identityHashCode(new Object())).append(' ').append(new Object().hashCode());
        text.append(' ').append(Set.of("a", "b", "c", "d", "e"));
        return text.toString();
    }

    public static void main(String[] args) throws InterruptedException {
        boolean show = args.length > 0 && args[0].equals("show");
        Thread[] threads = new Thread[2];
        String[] shown = new String[threads.length];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                long before = System.nanoTime();
                shown[me] = show();
                synchronized (lock) {
                    for (int n = 0; n < 50; n++) {
                        BY_IDENTITY.put(new Object(), n);
                    }
                }
                if (System.nanoTime() < before) {
                    throw new IllegalStateException("time went back");
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (show) {
            System.out.println(String.join("\n", shown));
            System.out.println(BY_IDENTITY.values());
        }
        Set<Integer> seen = new HashSet<>(BY_IDENTITY.values());
        System.out.println(BY_IDENTITY.size() + " " + seen.size() + " " + (UUID.randomUUID() != null));
    }
}
