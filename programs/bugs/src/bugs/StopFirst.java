package bugs;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The consumer stops as it is told, and leaves behind what was handed in just before. */
public final class StopFirst {
    private static final ConcurrentLinkedQueue<Integer> QUEUE = new ConcurrentLinkedQueue<>();
    private static final AtomicInteger DONE = new AtomicInteger();
    private static volatile boolean stop;

    public static void main(String[] args) {
        Bugs.together(StopFirst::produce, StopFirst::consume);
        Bugs.check(DONE.get() == 2, "done " + DONE.get());
    }

    private static void produce() {
        QUEUE.add(1);
        QUEUE.add(2);
        stop = true;
    }

    private static void consume() {
        while (true) {
            Integer item = QUEUE.poll();
            if (item != null) {
                DONE.incrementAndGet();
            } else if (stop) {
                return;
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
