/** Works if the main thread is faster than another one sleeps, or waits with a time limit. */
public final class Overtaken {
    private static final Object MONITOR = new Object();
    private static volatile int steps;
    private static volatile boolean prepared;

    private Overtaken() {}

    private static void rest(String how) {
        try {
            if (how.equals("sleep")) {
                Thread.sleep(50);
            } else {
                synchronized (MONITOR) {
                    MONITOR.wait(50);
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread sleeper = new Thread(
                () -> {
                    rest(args[0]);
                    if (!prepared) throw new IllegalStateException("too early");
                },
                "sleeper");
        sleeper.start();
        for (int i = 0; i < 4; i++) steps = i;
        prepared = true;
        sleeper.join();
    }
}
