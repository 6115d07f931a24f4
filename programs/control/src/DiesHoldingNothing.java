/** A thread dies of an exception inside a monitor; the monitor is free again, and all others go on. */
public final class DiesHoldingNothing {
    static final Object lock = new Object();
    static int entered;

    private DiesHoldingNothing() {}

    public static void main(String[] args) throws InterruptedException {
        Thread mortal = new Thread(() -> {
            synchronized (lock) {
                entered++;
                throw new IllegalStateException("died inside");
            }
        }, "mortal");
        Thread other = new Thread(() -> {
            synchronized (lock) {
                entered++;
            }
        }, "other");
        mortal.start();
        other.start();
        mortal.join();
        other.join();
        synchronized (lock) {
            System.out.println(entered + " entered");
        }
    }
}
