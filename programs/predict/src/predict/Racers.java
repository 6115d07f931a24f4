package predict;

/**
 * Threads that race without end, and a log of what each of them saw: what a recording of the run
 * must say, too. A line is what raced, the thread, and the values it read, in its order.
 */
public final class Racers {
    private static final int TIMES = 1500;
    private static final int WIDTH = 5;

    private static int plain;
    private static volatile int loud;
    private static final int[] ELEMENTS = new int[WIDTH];
    private static final long[] COPIED = new long[WIDTH];

    private final int me;
    private final int[] plainSeen = new int[TIMES];
    private final int[] loudSeen = new int[TIMES];
    private final int[] elementSeen = new int[TIMES];
    private final int[] copySeen = new int[TIMES];

    private Racers(int me) {
        this.me = me;
    }

    private void race() {
        long[] mine = new long[WIDTH];
        for (int i = 0; i < TIMES; i++) {
            int seen = plain;
            plainSeen[i] = seen;
            plain = seen + 1;
        }
        for (int i = 0; i < TIMES; i++) {
            int seen = loud;
            loudSeen[i] = seen;
            loud = seen + 1;
        }
        for (int i = 0; i < TIMES; i++) {
            int at = i % WIDTH;
            int seen = ELEMENTS[at];
            elementSeen[i] = seen;
            ELEMENTS[at] = seen + 1;
        }
        for (int i = 0; i < TIMES; i++) {
            System.arraycopy(COPIED, 0, mine, 0, WIDTH);
            copySeen[i] = (int) mine[0];
            mine[0] = mine[0] + 1;
            System.arraycopy(mine, 0, COPIED, 0, WIDTH);
        }
    }

    private static void log(String what, int who, int[] seen) {
        StringBuilder line = new StringBuilder(what).append(' ').append(who);
        for (int value : seen) line.append(' ').append(value);
        System.out.println(line);
    }

    public static void main(String[] args) throws InterruptedException {
        Racers[] all = new Racers[Integer.parseInt(args[0])];
        Thread[] threads = new Thread[all.length];
        for (int i = 0; i < all.length; i++) {
            Racers one = new Racers(i);
            all[i] = one;
            threads[i] = new Thread(one::race, "racer " + i);
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        for (Racers one : all) {
            log("plain", one.me, one.plainSeen);
            log("loud", one.me, one.loudSeen);
            log("elements", one.me, one.elementSeen);
            log("copied", one.me, one.copySeen);
        }
    }
}
