package bugs;

import java.util.concurrent.Semaphore;

/** A bounded buffer whose producer takes the mutex before it waits for room. */
public final class MutexFirst {
    private static final Semaphore ROOM = new Semaphore(1);
    private static final Semaphore ITEMS = new Semaphore(0);
    private static final Semaphore MUTEX = new Semaphore(1);

    public static void main(String[] args) {
        Bugs.together(MutexFirst::produce, MutexFirst::consume);
    }

    private static void produce() {
        for (int i = 0; i < 2; i++) {
            MUTEX.acquireUninterruptibly();
            ROOM.acquireUninterruptibly();
            ITEMS.release();
            MUTEX.release();
        }
    }

    private static void consume() {
        for (int i = 0; i < 2; i++) {
            ITEMS.acquireUninterruptibly();
            MUTEX.acquireUninterruptibly();
            ROOM.release();
            MUTEX.release();
        }
    }
}
