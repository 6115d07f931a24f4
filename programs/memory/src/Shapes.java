/** Known shapes: each throws when it sees what no interleaving shows. */
public class Shapes {
    static int x;
    static int y;
    static int turn;
    static volatile int ready;

    static int a;
    static int b;
    static int c;
    static int d;

    static void run(Runnable... bodies) throws InterruptedException {
        Thread[] threads = new Thread[bodies.length];
        for (int i = 0; i < bodies.length; i++) {
            threads[i] = new Thread(bodies[i], "t" + i);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }

    static void check(boolean fine) {
        if (!fine) throw new IllegalStateException(a + " " + b + " " + c + " " + d);
    }

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "SB":
                run(() -> { x = 1; a = y; }, () -> { y = 1; b = x; });
                check(a == 1 || b == 1);
                break;
            case "MP":
                run(() -> { x = 1; y = 1; }, () -> { a = y; b = x; });
                check(a == 0 || b == 1);
                break;
            case "MP volatile":
                run(() -> { x = 1; ready = 1; }, () -> { a = ready; b = a == 1 ? x : 1; });
                check(a == 0 || b == 1);
                break;
            case "IRIW":
                run(() -> x = 1, () -> y = 1, () -> { a = x; b = y; }, () -> { c = y; d = x; });
                check(!(a == 1 && b == 0 && c == 1 && d == 0));
                break;
            case "Peterson":
                run(
                    () -> { x = 1; turn = 1; if (y == 0 || turn == 0) a = 1; },
                    () -> { y = 1; turn = 0; if (x == 0 || turn == 1) b = 1; });
                check(a + b < 2 || c > 0);
                break;
            case "sum":
                int[] sums = new int[1];
                run(() -> sums[0] = 1, () -> { if (sums[0] == 1 && sums[0] == 0) a = 1; });
                check(a == 0);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
