package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Three steps in a row, in three threads; each waits for the one before by looking once, and
 * otherwise gives up. The last one finds its step done by nobody only in one order.
 */
public final class Phases {
    private static final AtomicInteger STEP = new AtomicInteger();
    private static volatile boolean skipped;

    public static void main(String[] args) {
        Bugs.together(() -> step(0), () -> step(1), () -> step(2), Phases::look);
    }

    private static void step(int from) {
        STEP.compareAndSet(from, from + 1);
    }

    private static void look() {
        skipped = STEP.get() == 3;
        Bugs.check(!skipped, "all three came before");
    }
}
