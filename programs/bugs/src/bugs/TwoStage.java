package bugs;

/**
 * Two values that belong together, each under its own lock: who reads between the two stages of
 * an update gets an old second one. The argument says how many threads update.
 */
public final class TwoStage {
    private static final Object FIRST = new Object();
    private static final Object SECOND = new Object();
    private static int one;
    private static int two;

    public static void main(String[] args) {
        int writers = Integer.parseInt(args[0]);
        Runnable[] all = Bugs.times(writers + 1, TwoStage::update);
        all[writers] = TwoStage::look;
        Bugs.together(all);
    }

    private static void update() {
        int mine;
        synchronized (FIRST) {
            mine = ++one;
        }
        synchronized (SECOND) {
            two = Math.max(two, mine + 1);
        }
    }

    private static void look() {
        int seen;
        synchronized (FIRST) {
            seen = one;
        }
        if (seen == 0) {
            return;
        }
        synchronized (SECOND) {
            Bugs.check(two > seen, "stage two is behind: " + two);
        }
    }
}
