/** More threads than a digit of base 64 can tell apart, all started by one. */
public final class ManyThreads {
    static volatile int first;
    static volatile int second;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                first = number;
                second = number;
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
