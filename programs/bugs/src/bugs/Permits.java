package bugs;

import java.util.concurrent.Semaphore;

/** Two permits, and two threads that need both and take one at a time. */
public final class Permits {
    private static final Semaphore PERMITS = new Semaphore(2);

    public static void main(String[] args) {
        Bugs.together(Permits::both, Permits::both);
    }

    private static void both() {
        PERMITS.acquireUninterruptibly();
        PERMITS.acquireUninterruptibly();
        PERMITS.release(2);
    }
}
