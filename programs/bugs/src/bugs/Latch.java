package bugs;

import java.util.concurrent.CountDownLatch;

/** The worker says that it is done before it is. */
public final class Latch {
    private static final CountDownLatch DONE = new CountDownLatch(1);
    private static volatile int result;

    public static void main(String[] args) {
        Bugs.together(Latch::work, Latch::use);
    }

    private static void work() {
        DONE.countDown();
        result = 42;
    }

    private static void use() {
        try {
            DONE.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Bugs.check(result == 42, "not there yet");
    }
}
