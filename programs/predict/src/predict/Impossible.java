package predict;

/**
 * The second figure of the paper on jPredictor: that y is read after both
 * writes, its own thread's the last, cannot happen, because x is 1 by then.
 */
public final class Impossible {
    static int x = 5;
    static int y = 5;
    static int seen;

    private Impossible() {}

    static void zero() {
        y = 0;
    }

    static void one() {
        y = 1;
    }

    static void look() {
        seen = y;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> {
            sleep(150);
            x = 0;
            sleep(300);
            x = 1;
            sleep(300);
            zero();
        }, "first");
        Thread second = new Thread(() -> {
            one();
            sleep(300);
            if (x == 0) {
                sleep(300);
                look();
            }
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
