package bugs;

/** A thread waits on an inner monitor while it holds the outer one that its waker needs. */
public final class Nested {
    private static final Object OUTER = new Object();
    private static final Object INNER = new Object();
    private static boolean full;

    public static void main(String[] args) {
        Bugs.together(Nested::take, Nested::put);
    }

    private static void take() {
        synchronized (OUTER) {
            synchronized (INNER) {
                while (!full) {
                    try {
                        INNER.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }
    }

    private static void put() {
        synchronized (OUTER) {
            synchronized (INNER) {
                full = true;
                INNER.notifyAll();
            }
        }
    }
}
