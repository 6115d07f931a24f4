/**
 * Two threads with twenty scheduling points each: ten times in and out of a monitor. The argument
 * says how often, each time with fresh threads.
 */
public final class TwoThreads {
    private int count;

    private TwoThreads() {}

    private void work() {
        for (int i = 0; i < 10; i++) {
            synchronized (this) {
                count++;
            }
        }
    }

    static int once() throws InterruptedException {
        TwoThreads shared = new TwoThreads();
        Thread one = new Thread(shared::work);
        Thread two = new Thread(shared::work);
        one.start();
        two.start();
        one.join();
        two.join();
        return shared.count;
    }

    public static void main(String[] args) throws InterruptedException {
        int times = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        int sum = 0;
        for (int i = 0; i < times; i++) {
            sum += once();
        }
        System.out.println(sum);
    }
}
