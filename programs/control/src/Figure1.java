/**
 * Figure 1 of the RaceFuzzer paper: the accesses to z race, those to x look as if they did. They
 * are ordered by what y says, which locks alone do not show.
 */
public final class Figure1 {
    static final Object lock = new Object();
    static int x;
    static int y;
    static int z;

    private Figure1() {}

    static void thread1() {
        x = 1; // statement 1
        synchronized (lock) {
            y = 1;
        }
        if (z == 1) { // statement 5
            throw new IllegalStateException("ERROR1");
        }
    }

    static void thread2() {
        z = 1; // statement 7
        synchronized (lock) {
            if (y == 1) {
                if (x != 1) { // statement 10
                    throw new IllegalStateException("ERROR2");
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(Figure1::thread1, "thread1");
        Thread two = new Thread(Figure1::thread2, "thread2");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
