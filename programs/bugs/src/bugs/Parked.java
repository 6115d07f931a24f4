package bugs;

import java.util.concurrent.locks.LockSupport;

/** The flag is set after the thread was unparked: it looks, parks, and nobody comes again. */
public final class Parked {
    private static volatile boolean go;

    public static void main(String[] args) {
        Thread waiter = new Thread(Parked::await, "waiter");
        waiter.start();
        LockSupport.unpark(waiter);
        go = true;
        Bugs.join(waiter);
    }

    private static void await() {
        while (!go) {
            LockSupport.park();
        }
    }
}
