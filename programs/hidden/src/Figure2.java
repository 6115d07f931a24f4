/**
 * Figure 2 of the DrFinder paper. The delays make one order all but certain: t1 takes k and n long
 * before t3 and t2 come to them, so the two races are ordered by locks that have nothing to do with
 * them. They show when t3 takes k before t1, or t2 takes n before t1.
 */
public final class Figure2 {
    static final class K {}

    static final class N {}

    static final class O1 {}

    static final class O2 {}

    static final class O3 {}

    static final class O4 {}

    static final class O5 {}

    static final K k = new K();
    static final N n = new N();
    static final O1 o1 = new O1();
    static final O2 o2 = new O2();
    static final O3 o3 = new O3();
    static final O4 o4 = new O4();
    static final O5 o5 = new O5();

    static int x;
    static int y;

    /** What the locks are for: none of the two races. */
    static int guardedByK;

    static int guardedByN;

    private Figure2() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // The first thread.

    static void f1() {
        pause(40); // the others have begun
        x = 1; // race: figure-2
        synchronized (k) {
            guardedByK++;
        }
        f2();
    }

    static void f2() {
        synchronized (o1) {
            y = 1; // race: figure-2
        }
        synchronized (n) {
            guardedByN++;
        }
    }

    // The second.

    static void f3() {
        pause(140);
        f4();
    }

    static void f4() {
        synchronized (o2) {
            pause(1);
        }
        synchronized (o3) {
            pause(1);
        }
        f5();
    }

    static void f5() {
        synchronized (n) {
            guardedByN++;
        }
        y = 2; // race: figure-2
    }

    // The third.

    static void f6() {
        pause(100);
        f7();
    }

    static void f7() {
        synchronized (o4) {
            pause(1);
        }
        synchronized (o5) {
            pause(1);
        }
        f8();
    }

    static void f8() {
        synchronized (k) {
            guardedByK++;
        }
        x = 2; // race: figure-2
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {
            new Thread(Figure2::f1, "t1"), new Thread(Figure2::f3, "t2"), new Thread(Figure2::f6, "t3")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("done " + guardedByK + " " + guardedByN);
    }
}
