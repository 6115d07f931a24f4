package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/** A lazily made object: two threads see that there is none. */
public final class LazyOnce {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static volatile Object instance;

    public static void main(String[] args) {
        Bugs.together(LazyOnce::get, LazyOnce::get);
        Bugs.check(MADE.get() == 1, "made " + MADE.get());
    }

    private static Object get() {
        if (instance == null) {
            MADE.incrementAndGet();
            instance = new Object();
        }
        return instance;
    }
}
