package bugs;

/** Who waits does not look whether it has happened already. */
public final class LostNotify {
    private static final Object LOCK = new Object();

    public static void main(String[] args) {
        Bugs.together(LostNotify::await, LostNotify::tell);
    }

    private static void await() {
        synchronized (LOCK) {
            try {
                LOCK.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void tell() {
        synchronized (LOCK) {
            LOCK.notifyAll();
        }
    }
}
