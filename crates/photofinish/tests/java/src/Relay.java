import java.util.concurrent.CompletableFuture;

/** Two threads that pass a lock back and forth, and what a JVM that is used again must put back. */
public final class Relay {
    private static final Object LOCK = new Object();
    private static int laps;
    private static int runners;

    private static void run(int times) {
        for (int i = 0; i < times; i++) {
            synchronized (LOCK) {
                laps++;
            }
        }
    }

    private static void race(int times) throws InterruptedException {
        Thread one = new Thread(() -> run(times));
        Thread two = new Thread(() -> run(times));
        runners += 2;
        one.start();
        two.start();
        one.join();
        two.join();
        if (laps != 2 * times || runners != 2) throw new IllegalStateException(laps + " laps of " + runners);
        if (!one.getName().equals("Thread-0")) throw new IllegalStateException(one.getName());
        if (System.getProperty("relay") != null) throw new IllegalStateException("not the first");
        System.setProperty("relay", "run");
    }

    /** The loser waits for ever if it comes first. */
    private static void wedge() throws InterruptedException {
        Object other = new Object();
        Thread thread = new Thread(() -> {
            synchronized (other) {
                synchronized (LOCK) {
                    laps++;
                }
            }
        });
        thread.start();
        run(3);
        synchronized (LOCK) {
            synchronized (other) {
                laps++;
            }
        }
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        int times = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        switch (args[0]) {
            case "plain" -> race(times);
            case "exit" -> {
                race(times);
                System.exit(0);
            }
            case "hook" -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> {}));
                race(times);
            }
            case "pool" -> {
                CompletableFuture<Void> task = CompletableFuture.runAsync(() -> run(1));
                run(1);
                task.join();
            }
            case "wedge" -> wedge();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
