package book.faulty;

import book.Two;
import java.util.concurrent.atomic.AtomicStampedReference;

/** A queue whose owner works at the bottom while others steal at the top. */
public final class DEQueue extends Two {
    private final int[] tasks = new int[2];
    private int bottom;
    private final AtomicStampedReference<Integer> top = new AtomicStampedReference<>(0, 0);

    private void pushBottom(int task) {
        tasks[bottom] = task; // race: DEQueue
        bottom++; // race: DEQueue
    }

    private int popTop() {
        int[] stamp = new int[1];
        Integer first = top.get(stamp);
        if (bottom <= first) { // race: DEQueue
            return 0;
        }
        int task = tasks[first]; // race: DEQueue
        return top.compareAndSet(first, first + 1, stamp[0], stamp[0] + 1) ? task : 0;
    }

    private int popBottom() {
        if (bottom == 0) {
            return 0;
        }
        bottom--; // race: DEQueue
        int task = tasks[bottom];
        int[] stamp = new int[1];
        Integer first = top.get(stamp);
        if (bottom > first) {
            return task;
        }
        if (bottom == first) {
            bottom = 0; // race: DEQueue
            if (top.compareAndSet(first, 0, stamp[0], stamp[0] + 1)) {
                return task;
            }
        }
        bottom = 0; // race: DEQueue
        top.set(0, stamp[0] + 1);
        return 0;
    }

    @Override
    protected void work(int me) {
        if (me == 0) {
            pushBottom(1);
            pushBottom(2);
            popBottom();
        } else {
            popTop();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new DEQueue().run();
    }
}
