package bugs;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A listener that registers, then asks for the state: an event between the two is told twice. */
public final class Listener {
    private static final List<Runnable> LISTENERS = new CopyOnWriteArrayList<>();
    private static final AtomicInteger TOLD = new AtomicInteger();
    private static volatile boolean open;

    public static void main(String[] args) {
        Bugs.together(Listener::register, Listener::fire);
        Bugs.check(TOLD.get() == 1, "told " + TOLD.get() + " times");
    }

    private static void register() {
        LISTENERS.add(TOLD::incrementAndGet);
        if (open) {
            TOLD.incrementAndGet();
        }
    }

    private static void fire() {
        open = true;
        LISTENERS.forEach(Runnable::run);
    }
}
