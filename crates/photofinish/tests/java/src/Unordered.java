/** Writes that nothing orders: who comes after both may read either, and what it misses is no race with it. */
public class Unordered {
    static int x;
    static volatile boolean ready;

    public static void main(String[] args) throws InterruptedException {
        if (args.length > 0) handed();
        else joined();
    }

    /** Two reads in a row that see different writes: only older values do that. */
    private static void joined() throws InterruptedException {
        Thread one = new Thread(() -> x = 1, "one");
        Thread two = new Thread(() -> x = 2, "two");
        one.start();
        two.start();
        one.join();
        two.join();
        int a = x;
        int b = x;
        if (a != b) throw new IllegalStateException("two values");
    }

    /** The second write is handed over by a volatile field, the first by nothing. */
    private static void handed() throws InterruptedException {
        Thread one = new Thread(() -> x = 1, "one");
        Thread two = new Thread(Unordered::hand, "two");
        Thread three = new Thread(Unordered::take, "three");
        one.start();
        two.start();
        three.start();
        one.join();
        two.join();
        three.join();
    }

    private static void hand() {
        x = 2;
        ready = true;
    }

    private static void take() {
        while (!ready) Thread.yield();
        if (x < 0) throw new IllegalStateException("never");
    }
}
