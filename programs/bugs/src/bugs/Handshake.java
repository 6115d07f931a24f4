package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/** Two threads exchange turns by a counter; a third that counts too breaks the parity. */
public final class Handshake {
    private static final AtomicInteger TURN = new AtomicInteger();
    private static volatile int value;

    public static void main(String[] args) {
        Bugs.together(Handshake::even, Handshake::odd, TURN::incrementAndGet);
    }

    private static void even() {
        if (TURN.get() % 2 == 0) {
            value = 2;
            Bugs.check(value == 2, "not alone");
            TURN.incrementAndGet();
        }
    }

    private static void odd() {
        if (TURN.get() % 2 == 1) {
            value = 1;
            Bugs.check(value == 1, "not alone");
            TURN.incrementAndGet();
        }
    }
}
