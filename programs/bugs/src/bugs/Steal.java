package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/** A work-stealing queue whose owner takes the last task without asking whether it was stolen. */
public final class Steal {
    private final AtomicInteger top = new AtomicInteger();
    private volatile int bottom = 2;
    private final AtomicInteger[] done = {new AtomicInteger(), new AtomicInteger()};

    public static void main(String[] args) {
        Steal queue = new Steal();
        Bugs.together(queue::own, queue::steal);
    }

    private void own() {
        for (int i = 0; i < 2; i++) {
            int at = bottom - 1;
            bottom = at;
            if (top.get() <= at) {
                run(at);
            }
        }
    }

    private void steal() {
        int at = top.get();
        if (at < bottom && top.compareAndSet(at, at + 1)) {
            run(at);
        }
    }

    private void run(int task) {
        Bugs.check(done[task].incrementAndGet() == 1, "done twice: " + task);
    }
}
