package papers;

/**
 * Travelling salesman by branch and bound. Stands for tsp (jPredictor): the length of the best tour so far is read without
 * the lock that guards its writes, and an update that follows from an old value is not atomic.
 */
public final class Tsp {
    /** Not the same in both directions: whoever begins with one of the last two towns finds shorter tours. */
    private static final int[][] WAY = {{0, 9, 9, 2, 1}, {1, 0, 6, 4, 3}, {1, 6, 0, 8, 5}, {1, 4, 8, 0, 6}, {1, 3, 5, 6, 0}};

    private int best = Integer.MAX_VALUE;

    private void visit(int town, int seen, int length) {
        if (length >= best) { // race: tsp
            return;
        }
        if (seen == (1 << WAY.length) - 1) {
            update(length + WAY[town][0]);
        }
        for (int next = 1; next < WAY.length; next++) {
            if ((seen & 1 << next) == 0) {
                visit(next, seen | 1 << next, length + WAY[town][next]);
            }
        }
    }

    private void update(int length) {
        boolean better;
        synchronized (this) {
            better = length < best;
        }
        if (better) {
            synchronized (this) {
                best = length; // race: tsp
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tsp tsp = new Tsp();
        Thread[] workers = new Thread[2];
        for (int i = 0; i < workers.length; i++) {
            int first = 1 + 2 * i;
            workers[i] = new Thread(() -> {
                for (int town = first; town < first + 2; town++) {
                    tsp.visit(town, 1 | 1 << town, WAY[0][town]);
                }
            }, "worker " + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("best " + tsp.best);
    }
}
