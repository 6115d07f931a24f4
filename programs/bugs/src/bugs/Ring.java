package bugs;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** A circular buffer whose two producers take a place and fill it in two steps. */
public final class Ring {
    private static final int SIZE = 4;
    private final AtomicIntegerArray cells = new AtomicIntegerArray(SIZE);
    private final AtomicInteger tail = new AtomicInteger();

    public static void main(String[] args) {
        Ring ring = new Ring();
        Bugs.together(() -> ring.put(1), () -> ring.put(2));
        Bugs.check(ring.cells.get(0) + ring.cells.get(1) == 3, "an item was overwritten");
    }

    private void put(int item) {
        int at = tail.get();
        cells.set(at % SIZE, item);
        tail.set(at + 1);
    }
}
