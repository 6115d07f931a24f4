/**
 * Figure 2 of the RaceFuzzer paper: one thread comes to its side of the race only after a lot of
 * work, the other at once. How much work there is should not matter. The argument multiplies it.
 */
public final class Figure2 {
    static final Object lock = new Object();
    static int x;
    static long work;

    private Figure2() {}

    static void thread1(int times) {
        synchronized (lock) {
            for (int i = 0; i < times; i++) {
                f1();
                f2();
                f3();
                f4();
                f5();
            }
        }
        if (x == 0) { // statement 8
            throw new IllegalStateException("ERROR");
        }
    }

    static void thread2() {
        x = 1; // statement 10
        synchronized (lock) {
            f1();
        }
    }

    static void f1() {
        work += 1;
    }

    static void f2() {
        work ^= work << 3;
    }

    static void f3() {
        synchronized (Figure2.class) {
            work += 3;
        }
    }

    static void f4() {
        work ^= work >>> 5;
    }

    static void f5() {
        work += 5;
    }

    public static void main(String[] args) throws InterruptedException {
        int times = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        Thread two = new Thread(Figure2::thread2, "thread2");
        Thread one = new Thread(() -> thread1(times), "thread1");
        two.start();
        one.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
