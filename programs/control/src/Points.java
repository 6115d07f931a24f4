/**
 * Two threads that enter and leave a monitor of their own, so often: nothing but scheduling points,
 * and nobody ever waits for anybody.
 */
public final class Points {
    private Points() {}

    static int work(int times) {
        Object mine = new Object();
        int sum = 0;
        for (int i = 0; i < times; i++) {
            synchronized (mine) {
                sum++;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int times = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        int[] sums = new int[2];
        Thread[] threads = new Thread[sums.length];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> sums[me] = work(times));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(sums[0] + sums[1]);
    }
}
