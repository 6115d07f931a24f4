package bugs;

/**
 * Writers set two variables in order, one thread reads both: between the first write of a and
 * the first of b it sees what should never be. The argument says how many writers there are.
 */
public final class Reorder {
    private static volatile int a;
    private static volatile int b;

    public static void main(String[] args) {
        int writers = Integer.parseInt(args[0]);
        Runnable[] all = Bugs.times(writers + 1, Reorder::write);
        all[writers] = Reorder::look;
        Bugs.together(all);
    }

    private static void write() {
        a = 1;
        b = 1;
    }

    private static void look() {
        int first = a;
        Bugs.check(first == b, "a without b");
    }
}
