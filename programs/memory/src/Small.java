/**
 * Programs small enough for every execution, older values included. Each throws, or waits for ever, when a read sees
 * what no interleaving shows; with "volatile" nothing does.
 */
public class Small {
    static class Point {
        int x;

        Point(int x) {
            this.x = x;
        }
    }

    static int x;
    static int y;
    static volatile int vx;
    static volatile int vy;
    static Point shared;
    static volatile Point safe;
    static boolean stop;
    static volatile boolean halt;

    static int a;
    static int b;

    static void both(Runnable one, Runnable other) throws InterruptedException {
        Thread thread = new Thread(one, "writer");
        thread.start();
        other.run();
        thread.join();
    }

    static void publish() {
        synchronized (Small.class) {
            if (shared == null) shared = new Point(42);
        }
    }

    static void publishSafely() {
        synchronized (Small.class) {
            if (safe == null) safe = new Point(42);
        }
    }

    static void check(Point point) {
        int x = point == null ? 42 : point.x;
        if (x != 42) throw new IllegalStateException("half-built: " + x);
    }

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "SB":
                both(() -> { x = 1; a = y; }, () -> { y = 1; b = x; });
                if (a == 0 && b == 0) throw new IllegalStateException("neither saw the other");
                break;
            case "SB volatile":
                both(() -> { vx = 1; a = vy; }, () -> { vy = 1; b = vx; });
                if (a == 0 && b == 0) throw new IllegalStateException("neither saw the other");
                break;
            case "MP":
                both(() -> { x = 1; y = 1; }, () -> { a = y; b = x; });
                if (a == 1 && b == 0) throw new IllegalStateException("the flag without the message");
                break;
            case "MP volatile":
                both(() -> { x = 1; vy = 1; }, () -> { a = vy; b = a == 1 ? x : 1; });
                if (a == 1 && b == 0) throw new IllegalStateException("the flag without the message");
                break;
            case "DCL":
                both(Small::publish, () -> check(shared));
                break;
            case "DCL volatile":
                both(Small::publishSafely, () -> check(safe));
                break;
            case "stop":
                both(() -> { while (!stop) { } }, () -> stop = true);
                break;
            case "stop volatile":
                both(() -> { while (!halt) { } }, () -> halt = true);
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }
}
