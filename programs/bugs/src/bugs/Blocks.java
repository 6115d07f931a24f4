package bugs;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** An allocator that looks for a free block and marks it in two steps. */
public final class Blocks {
    private static final AtomicIntegerArray USED = new AtomicIntegerArray(4);
    private static final AtomicInteger[] OWNERS = {
        new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger()
    };

    public static void main(String[] args) {
        Bugs.together(Blocks::allocate, Blocks::allocate);
    }

    private static void allocate() {
        for (int i = 0; i < USED.length(); i++) {
            if (USED.get(i) == 0) {
                USED.set(i, 1);
                Bugs.check(OWNERS[i].incrementAndGet() == 1, "two own block " + i);
                return;
            }
        }
    }
}
