import java.util.concurrent.atomic.AtomicInteger;

/**
 * A value that is stale when it is used: the other thread may set it in between. There is one serial order
 * only, since the look comes before the other thread is started.
 */
public final class SetBetween {
    private static final AtomicInteger VALUE = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(() -> VALUE.set(5));
        int seen = VALUE.get();
        other.start();
        VALUE.set(seen + 1);
        other.join();
    }
}
