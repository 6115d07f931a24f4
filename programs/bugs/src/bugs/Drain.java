package bugs;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The place in a circular buffer is announced before it is filled. */
public final class Drain {
    private final AtomicIntegerArray cells = new AtomicIntegerArray(3);
    private final AtomicInteger tail = new AtomicInteger();

    public static void main(String[] args) {
        Drain ring = new Drain();
        Bugs.together(ring::put, ring::take);
    }

    private void put() {
        for (int item = 1; item <= 2; item++) {
            int at = tail.getAndIncrement();
            cells.set(at, item);
        }
    }

    private void take() {
        int filled = tail.get();
        for (int at = 0; at < filled; at++) {
            Bugs.check(cells.get(at) != 0, "an empty place " + at);
        }
    }
}
