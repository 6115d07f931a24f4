package predict;

/**
 * Threads that hand over by plain flags. Whoever saw a flag comes after whoever set it, whatever a
 * recording makes of the order of accesses that race.
 */
public final class Handover {
    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "authentication":
                Authentication.run();
                break;
            case "lock":
                Lock.run();
                break;
            case "counter":
                Counter.run();
                break;
            case "queue":
                Queue.run(200);
                break;
            case "short-queue":
                Queue.run(1);
                break;
            case "stop":
                Stop.run();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    /** Access never comes without authentication: the flag says that it was there. */
    static final class Authentication {
        private static final Object LOCK = new Object();
        private static boolean done;

        static void authenticate() {}

        static void access() {}

        static void run() throws InterruptedException {
            Thread t = new Thread(() -> {
                while (!done) Thread.yield();
                access();
            });
            t.start();
            Thread.sleep(20);
            synchronized (LOCK) {
                Thread.yield();
            }
            authenticate();
            done = true;
            t.join();
        }
    }

    /** No race on x: whoever saw the flag takes the lock later. */
    static final class Lock {
        private static final Object LOCK = new Object();
        private static final Object OTHER = new Object();
        private static int a;
        private static int x;
        private static boolean flag;

        static void run() throws InterruptedException {
            Thread t = new Thread(() -> {
                while (!flag) Thread.onSpinWait();
                int r;
                synchronized (LOCK) {
                    r = a;
                }
                x = 2 + r;
            });
            t.start();
            Thread.sleep(20);
            synchronized (OTHER) {
                x = 0;
            }
            x = 1;
            synchronized (LOCK) {
                a = 1;
            }
            flag = true;
            t.join();
        }
    }

    /** A counter that may lose a step. No race on x: who finds it at two takes the lock later than the other. */
    static final class Counter {
        private static final Object LOCK = new Object();
        private static int count;
        private static int a;
        private static int x;

        static void run() throws InterruptedException {
            Thread t = new Thread(() -> {
                count++;
                int found = count;
                int r;
                synchronized (LOCK) {
                    r = a;
                }
                if (found == 2) x = 2 + r;
            });
            t.start();
            x = 1;
            synchronized (LOCK) {
                a = 1;
            }
            count++;
            t.join();
        }
    }

    /** A queue for one producer and one consumer without volatiles; each item's log is handed over by a lock. */
    static final class Queue {
        private static final int[] SLOTS = new int[8];
        private static final Object LOCK = new Object();
        private static int tail;
        private static int head;
        private static int logged;
        private static int last;

        static void put(int item) {
            last = item;
            synchronized (LOCK) {
                logged = item;
            }
            while (tail - head == SLOTS.length) Thread.yield();
            SLOTS[tail % SLOTS.length] = item;
            tail = tail + 1;
        }

        static int take() {
            while (tail == head) Thread.yield();
            int item = SLOTS[head % SLOTS.length];
            head = head + 1;
            return item;
        }

        static void run(int items) throws InterruptedException {
            Thread t = new Thread(() -> {
                int sum = 0;
                for (int i = 0; i < items; i++) sum += take();
                synchronized (LOCK) {
                    sum += logged;
                }
                last = sum; // all items were put, and logged before
            });
            t.start();
            for (int i = 0; i < items; i++) put(i);
            t.join();
        }
    }

    /** The worker stops when it sees a volatile; what comes after that races with nothing. */
    static final class Stop {
        private static volatile boolean stop;
        private static int x;
        private static int rounds;

        static void run() throws InterruptedException {
            Thread t = new Thread(() -> {
                while (!stop) rounds++;
                x = rounds;
            });
            t.start();
            Thread.sleep(5);
            x = 1;
            stop = true;
            t.join();
        }
    }

    private Handover() {}
}
