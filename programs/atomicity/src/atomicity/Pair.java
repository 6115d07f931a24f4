package atomicity;

/** Two threads that do their part once each, in whatever order they come. */
final class Pair {
    private Pair() {}

    static void run(Runnable one, Runnable other) throws InterruptedException {
        Thread first = new Thread(one, "first");
        Thread second = new Thread(other, "second");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    /** As a rule the other one has done its part afterwards; nothing orders them. */
    static void linger() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void both(Runnable part) throws InterruptedException {
        run(part, part);
    }
}
