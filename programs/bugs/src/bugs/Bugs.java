package bugs;

/** What the programs share. */
final class Bugs {
    private Bugs() {}

    /** Runs them all, each in a thread of its own, to their ends. */
    static void together(Runnable... tasks) {
        Thread[] threads = new Thread[tasks.length];
        for (int i = 0; i < tasks.length; i++) {
            threads[i] = new Thread(tasks[i], "t" + (i + 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            join(thread);
        }
    }

    /** The task as often as that, at the same time. */
    static Runnable[] times(int count, Runnable task) {
        Runnable[] all = new Runnable[count];
        java.util.Arrays.fill(all, task);
        return all;
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
