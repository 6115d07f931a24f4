package bugs;

/** Both set their flags and wait for the other's to go: nobody gives way. */
public final class Flags {
    private static volatile boolean a;
    private static volatile boolean b;

    public static void main(String[] args) {
        Bugs.together(Flags::first, Flags::second);
    }

    private static void first() {
        a = true;
        while (b) {
            Thread.onSpinWait();
        }
        a = false;
    }

    private static void second() {
        b = true;
        while (a) {
            Thread.onSpinWait();
        }
        b = false;
    }
}
