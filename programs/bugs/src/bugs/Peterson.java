package bugs;

/** Peterson's lock with its two first statements in the wrong order. */
public final class Peterson {
    private static volatile boolean wants0;
    private static volatile boolean wants1;
    private static volatile int victim;
    private static volatile int inside;

    public static void main(String[] args) {
        Bugs.together(Peterson::first, Peterson::second);
    }

    private static void first() {
        victim = 0;
        wants0 = true;
        while (wants1 && victim == 0) {
            Thread.onSpinWait();
        }
        critical();
        wants0 = false;
    }

    private static void second() {
        victim = 1;
        wants1 = true;
        while (wants0 && victim == 1) {
            Thread.onSpinWait();
        }
        critical();
        wants1 = false;
    }

    private static void critical() {
        int before = inside;
        inside = before + 1;
        Bugs.check(before == 0, "two inside");
        inside = 0;
    }
}
