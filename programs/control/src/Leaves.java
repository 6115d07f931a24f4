import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * Ways to end with others still there: daemons parked for ever, a pool that nobody shut down, hooks
 * that start threads, and System.exit from a thread while main waits. The argument chooses.
 */
public final class Leaves {
    static final Object lock = new Object();

    private Leaves() {}

    static void daemons() {
        for (int i = 0; i < 3; i++) {
            Thread daemon = new Thread(() -> {
                synchronized (lock) {
                    while (true) {
                        LockSupport.park();
                    }
                }
            });
            daemon.setDaemon(true);
            daemon.start();
        }
        ExecutorService pool = Executors.newCachedThreadPool(body -> {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            return thread;
        });
        pool.submit(() -> {});
        System.out.println("main leaves");
    }

    static void exit() throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            Thread inner = new Thread(() -> System.out.println("thread of a hook"));
            inner.start();
            try {
                inner.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        Thread leaver = new Thread(() -> System.exit(5), "leaver");
        leaver.start();
        synchronized (lock) {
            while (true) {
                lock.wait();
            }
        }
    }

    static void uncaught() {
        Thread thread = new Thread(() -> {
            throw new IllegalStateException("alone");
        }, "alone");
        thread.setUncaughtExceptionHandler((t, e) -> System.out.println("handled " + e.getMessage()));
        thread.start();
        throw new IllegalStateException("main falls");
    }

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "daemons":
                daemons();
                break;
            case "exit":
                exit();
                break;
            case "uncaught":
                uncaught();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
