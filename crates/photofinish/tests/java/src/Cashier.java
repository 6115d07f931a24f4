import java.util.concurrent.locks.ReentrantLock;

/** Steps inside a lock of the JDK: whoever reads a schedule looks for the program's lines. */
public class Cashier {
    private static final ReentrantLock lock = new ReentrantLock();
    private static int total;
    private static int rate;

    public static void main(String[] args) throws Exception {
        Thread first = new Thread(() -> {
            lock.lock(); // first takes
            total += 1;
            lock.unlock(); // first gives back
            rate = 2;
            lock.lock();
            total += 2;
            lock.unlock();
        });
        Thread second = new Thread(() -> {
            pause();
            lock.lock(); // second takes
            total += 10;
            lock.unlock(); // second gives back
            if (rate != 2) throw new IllegalStateException("no rate yet");
        });
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static void pause() {
        try {
            Thread.sleep(300);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
