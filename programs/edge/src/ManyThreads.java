import java.util.concurrent.CountDownLatch;

/** Two thousand threads, all alive at the same time, and then as many one after the other. */
public final class ManyThreads {
    private static final int THREADS = 2_000;
    private static final long SMALL_STACK = 128 * 1024;

    private static int turns;

    private ManyThreads() {}

    public static void main(String[] args) throws InterruptedException {
        int[] slots = new int[THREADS];
        CountDownLatch up = new CountDownLatch(THREADS);
        CountDownLatch go = new CountDownLatch(1);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int me = i;
            threads[i] = new Thread(null, () -> {
                up.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    return;
                }
                slots[me] = me;
            }, "many-" + i, SMALL_STACK);
            threads[i].start();
        }
        up.await();
        System.out.println(THREADS + " threads are up");
        go.countDown();
        long sum = 0;
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            sum += slots[i];
        }
        System.out.println("sum " + sum);

        for (int i = 0; i < THREADS; i++) {
            Thread next = new Thread(null, () -> turns++, "next", SMALL_STACK);
            next.start();
            next.join();
        }
        System.out.println("turns " + turns);
    }
}
