/**
 * A race, an exception and a deadlock, each in some schedules. A process that inherited the secrets of a campaign's
 * server fails in all of them.
 */
final class Toll {
    private static final Object DESK = new Object();
    private static final Object BARRIER = new Object();
    private static final Object BOOK = new Object();
    private static boolean registered;
    private static int paid;

    private Toll() {}

    public static void main(String[] args) throws InterruptedException {
        for (String name : System.getenv().keySet()) {
            if (name.startsWith("PHOTOFINISH_NATS")) {
                throw new SecurityException("inherited " + name);
            }
        }
        Thread driver = new Thread(Toll::drive, "driver");
        driver.start();
        paid = 1;
        synchronized (DESK) {
            registered = true;
        }
        synchronized (BARRIER) {
            synchronized (BOOK) {
                Thread.yield();
            }
        }
        driver.join();
    }

    private static void drive() {
        int seen = paid;
        synchronized (DESK) {
            if (!registered) {
                throw new IllegalStateException("not paid, " + seen);
            }
        }
        synchronized (BOOK) {
            synchronized (BARRIER) {
                Thread.yield();
            }
        }
    }
}
