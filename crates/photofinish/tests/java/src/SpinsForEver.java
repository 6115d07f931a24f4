/** A thread waits for a write that never comes, and two others race. */
public class SpinsForEver {
    static int never;
    static int sum;

    public static void main(String[] args) throws InterruptedException {
        Thread adds = new Thread(() -> {
            synchronized (SpinsForEver.class) {
                sum += 2;
                sum += 1;
            }
        });
        Thread spins = new Thread(() -> {
            while (never == 0) {}
        });
        adds.start();
        spins.start();
        sum = 2;
        adds.join();
        spins.join();
    }
}
