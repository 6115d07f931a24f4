import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/** Static fields of every kind, which two threads change: what a JVM finds there that makes another execution. */
public final class Kept {
    /** What the threads do, and what is printed of it. */
    private interface Kind {
        void change(int thread) throws Exception;

        String state();
    }

    static final class Numbers implements Kind {
        static int n;
        static long l = 40;
        static double d = 0.5;
        static boolean b;
        static char c = 'a';
        static byte y = 3;
        static short s = 4;
        static float f = 2.5f;
        static String text = "t";
        static final int FIXED = 12;
        static volatile int seen;

        @Override
        public synchronized void change(int thread) {
            n += thread;
            l *= 2;
            d += thread;
            b = !b;
            c += thread;
            y++;
            s--;
            f *= 3;
            text += thread;
            seen = n;
        }

        @Override
        public String state() {
            return n + " " + l + " " + d + " " + b + " " + c + " " + y + " " + s + " " + f + " " + text + " " + FIXED + " " + seen;
        }
    }

    static final class Collections implements Kind {
        static final Object LOCK = new Object();
        static final List<String> LIST = new ArrayList<>();
        static final Map<String, int[]> MAP = new ConcurrentHashMap<>();
        static final AtomicInteger NUMBER = new AtomicInteger(7);
        static int[] counts = {1, 2};
        static final int[][] GRID = new int[2][2];

        static {
            LIST.add("first");
            MAP.put("0", new int[] {9});
        }

        @Override
        public void change(int thread) {
            synchronized (LOCK) {
                LIST.add("t" + thread);
                MAP.get("0")[0] += thread;
                MAP.put("t" + thread, new int[] {LIST.size()});
                counts = new int[] {counts[0] + 1, LIST.size()};
                GRID[1][thread - 1]++;
            }
            NUMBER.addAndGet(thread);
        }

        @Override
        public String state() {
            return LIST + " " + MAP.size() + " " + MAP.get("0")[0] + " " + NUMBER + " " + counts[0] + counts[1] + " " + GRID[1][0] + GRID[1][1];
        }
    }

    static final class Locks implements Kind {
        static final ReentrantLock LOCK = new ReentrantLock();
        static final ReentrantLock LATER = new ReentrantLock();
        static final Condition TURN = LOCK.newCondition();
        static Condition made;
        static int turn = 1;

        @Override
        public void change(int thread) throws Exception {
            LATER.lock();
            try {
                if (made == null) made = LATER.newCondition();
            } finally {
                LATER.unlock();
            }
            LOCK.lock();
            try {
                while (turn != thread) TURN.await();
                turn++;
                TURN.signalAll();
            } finally {
                LOCK.unlock();
            }
        }

        @Override
        public String state() {
            return turn + " " + (made != null) + LOCK.isLocked() + LATER.hasQueuedThreads();
        }
    }

    enum Color {
        RED,
        GREEN {
            @Override
            int weight() {
                return 2;
            }
        };

        int used;

        int weight() {
            return 1;
        }
    }

    static final class Enums implements Kind {
        static final Map<Color, Integer> BY = new TreeMap<>();
        static Color last = Color.RED;

        @Override
        public void change(int thread) {
            synchronized (Enums.class) {
                Color color = Color.values()[thread - 1];
                color.used += color.weight();
                BY.merge(color, 1, Integer::sum);
                last = color == Color.RED ? Color.GREEN : Color.RED;
            }
        }

        @Override
        public String state() {
            return BY + " " + last + " " + Color.RED.used + Color.GREEN.used;
        }
    }

    static final class Lambdas implements Kind {
        static final IntSupplier NEXT = counter();
        static int last;

        static IntSupplier counter() {
            int[] n = {5};
            return () -> n[0]++;
        }

        @Override
        public void change(int thread) {
            synchronized (NEXT) {
                last = 10 * last + NEXT.getAsInt();
            }
        }

        @Override
        public String state() {
            return last + " " + NEXT.getAsInt();
        }
    }

    interface Fields {
        AtomicInteger SHARED = new AtomicInteger(1);

        default int next() {
            return SHARED.incrementAndGet();
        }
    }

    static final class Interfaces implements Kind, Fields {
        static int sum;

        @Override
        public synchronized void change(int thread) {
            sum = sum * thread + next();
        }

        @Override
        public String state() {
            return sum + " " + SHARED;
        }
    }

    // What cannot be put back.

    static final class Prints implements Kind {
        static int n;

        static {
            System.out.println("initialised");
        }

        @Override
        public synchronized void change(int thread) {
            n += thread;
        }

        @Override
        public String state() {
            return "" + n;
        }
    }

    static final class Starts implements Kind {
        static final Thread HELPER = new Thread(() -> Starts.add(10));
        static int n;

        static {
            HELPER.start();
        }

        static synchronized void add(int more) {
            n += more;
        }

        @Override
        public void change(int thread) throws Exception {
            add(thread);
            HELPER.join();
        }

        @Override
        public String state() {
            return n + " " + HELPER.isAlive();
        }
    }

    static final class Depends implements Kind {
        static final List<String> ORDER = Collections.LIST;
        static int n = ORDER.size();

        @Override
        public synchronized void change(int thread) {
            ORDER.add("d" + thread);
            n += ORDER.size();
        }

        @Override
        public String state() {
            return ORDER + " " + n;
        }
    }

    static final class Throws implements Kind {
        static final class Broken {
            static final int N = Integer.parseInt("none");
        }

        static String first;

        @Override
        public synchronized void change(int thread) {
            try {
                first += Broken.N;
            } catch (Throwable thrown) {
                first = first + " " + thrown.getClass().getSimpleName();
            }
        }

        @Override
        public String state() {
            return first;
        }
    }

    static final class Switches implements Kind {
        static int n;

        @Override
        public synchronized void change(int thread) {
            switch (Color.values()[thread - 1]) {
                case RED -> n += 3;
                default -> n *= 2;
            }
        }

        @Override
        public String state() {
            return "" + n;
        }
    }

    static final class Late implements Kind {
        static final class Cache {
            static final List<Integer> ALL = new ArrayList<>();
        }

        @Override
        public synchronized void change(int thread) {
            Cache.ALL.add(thread);
        }

        @Override
        public String state() {
            return Cache.ALL.toString();
        }
    }

    static final class Holds implements Kind {
        static final ThreadLocal<Integer> MINE = new ThreadLocal<>();
        static Thread last;

        @Override
        public synchronized void change(int thread) {
            MINE.set(thread);
            last = Thread.currentThread();
        }

        @Override
        public String state() {
            return last.getName() + " " + MINE.get();
        }
    }

    static final class Invokes implements Kind {
        static int n = 1;

        public static void add(int more) {
            n += more;
        }

        @Override
        public synchronized void change(int thread) throws Exception {
            Invokes.class.getMethod("add", int.class).invoke(null, thread);
        }

        @Override
        public String state() {
            return "" + n;
        }
    }

    private static Kind kind(String name) {
        return switch (name) {
            case "numbers" -> new Numbers();
            case "collections" -> new Collections();
            case "locks" -> new Locks();
            case "enums" -> new Enums();
            case "lambdas" -> new Lambdas();
            case "interfaces" -> new Interfaces();
            case "prints" -> new Prints();
            case "starts" -> new Starts();
            case "depends" -> new Depends();
            case "throws" -> new Throws();
            case "switches" -> new Switches();
            case "late" -> new Late();
            case "holds" -> new Holds();
            default -> new Invokes();
        };
    }

    public static void main(String[] args) throws Exception {
        Kind kind = kind(args[0]);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int number = i + 1;
            threads[i] = new Thread(() -> {
                try {
                    kind.change(number);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(kind.state());
    }
}
