/**
 * Messages and stack traces of exceptions that the JVM itself throws. Those about
 * null say which expression was null, which it works out from the bytecode: added
 * code must not show in them.
 */
public final class Traces {
    int number;
    long wide;
    Traces next;
    int[] cells;
    Object[] things;
    static Traces shared;

    private interface Body {
        Object run();
    }

    public static void main(String[] args) {
        Traces it = new Traces();
        long[][] grid = new long[2][];
        tryIt(() -> it.next.number);
        tryIt(() -> it.next.wide);
        tryIt(() -> it.next.next.next);
        tryIt(() -> it.next.number = 1);
        tryIt(() -> it.next.wide = 1L);
        tryIt(() -> it.next.wide++);
        tryIt(() -> shared.next = it);
        tryIt(() -> shared.next.cells[3]);
        tryIt(() -> it.cells[0]);
        tryIt(() -> it.cells[0] = 1);
        tryIt(() -> it.cells[1] += 2);
        tryIt(() -> it.cells.length);
        tryIt(() -> it.cells.clone());
        tryIt(() -> it.things[2]);
        tryIt(() -> grid[1][0]);
        tryIt(() -> grid[1][0]++);
        tryIt(() -> it.next.toString());
        tryIt(() -> it.next.self().self());
        tryIt(() -> {
            synchronized (it.next) {
                return it;
            }
        });
        tryIt(() -> {
            System.arraycopy(it.cells, 0, new int[1], 0, 1);
            return it;
        });
        it.cells = new int[2];
        it.things = new String[1];
        tryIt(() -> it.cells[2]);
        tryIt(() -> it.cells[-1] = 3);
        tryIt(() -> it.things[0] = 5);
        tryIt(() -> (String) (Object) it.cells);
        tryIt(() -> new int[it.number - 1]);
        tryIt(() -> 1 / it.number);
        tryIt(() -> {
            System.arraycopy(it.cells, 1, new int[1], 0, 2);
            return it;
        });
        it.next = new Traces();
        tryIt(it.next::fail);
    }

    private Traces self() {
        return this;
    }

    private synchronized Object fail() {
        number++;
        synchronized (Traces.class) {
            cells = new int[number];
            throw new IllegalStateException("number is " + number);
        }
    }

    private static void tryIt(Body body) {
        try {
            System.out.println("worked: " + body.run());
        } catch (RuntimeException e) {
            System.out.println(e);
            for (StackTraceElement frame : e.getStackTrace()) {
                System.out.println("    " + frame);
            }
        }
    }
}
