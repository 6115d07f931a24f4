package bugs;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** The bakery's lock without the flag that says who is choosing a number. */
public final class Bakery {
    private static final AtomicIntegerArray NUMBER = new AtomicIntegerArray(2);
    private static volatile int inside;

    public static void main(String[] args) {
        Bugs.together(() -> enter(0), () -> enter(1));
    }

    private static void enter(int me) {
        int other = 1 - me;
        int mine = NUMBER.get(other) + 1;
        NUMBER.set(me, mine);
        while (goesFirst(other, me, mine)) {
            Thread.onSpinWait();
        }
        int before = inside;
        inside = before + 1;
        Bugs.check(before == 0, "two inside");
        inside = 0;
        NUMBER.set(me, 0);
    }

    private static boolean goesFirst(int other, int me, int mine) {
        int theirs = NUMBER.get(other);
        return theirs != 0 && (theirs < mine || theirs == mine && other < me);
    }
}
