package bugs;

/** A lock with tickets that are not taken atomically: two threads get the same one. */
public final class Ticket {
    private static volatile int next;
    private static volatile int served;
    private static volatile int inside;

    public static void main(String[] args) {
        Bugs.together(Ticket::enter, Ticket::enter);
    }

    private static void enter() {
        int mine = next;
        next = mine + 1;
        while (served < mine) {
            Thread.onSpinWait();
        }
        int before = inside;
        inside = before + 1;
        Bugs.check(before == 0, "two inside");
        inside = 0;
        served = mine + 1;
    }
}
