package bugs;

/**
 * Threads count under a lock, some of them under another one. The counter is volatile, so that
 * this is no data race. Arguments: threads with the right lock, and with the wrong one.
 */
public final class WrongLock {
    private static final Object RIGHT = new Object();
    private static final Object WRONG = new Object();
    private static volatile int count;

    public static void main(String[] args) {
        int right = Integer.parseInt(args[0]);
        int wrong = Integer.parseInt(args[1]);
        Runnable[] all = Bugs.times(right + wrong, () -> add(RIGHT));
        java.util.Arrays.fill(all, right, right + wrong, (Runnable) () -> add(WRONG));
        Bugs.together(all);
        Bugs.check(count == right + wrong, "lost: " + count);
    }

    private static void add(Object lock) {
        synchronized (lock) {
            int old = count;
            count = old + 1;
        }
    }
}
