import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Objects that threads share without a lock, one misuse a mode. What holds the object is what a person would repair. */
public class Held {
    static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    static final Map<String, Integer> COUNTS = new HashMap<>();
    static final Map<String, Integer> NAMES = new HashMap<>();
    static final int[] CELLS = new int[8];
    static final Own OWN = new Own();
    static final List<Integer> EMPTY = new ArrayList<>();

    final Map<Integer, String> entries = new HashMap<>();
    final Set<Integer> seen = new HashSet<>();

    /** Calls of its methods are not calls of a class of the JDK. */
    static class Own extends HashMap<Integer, Integer> {}

    public static void main(String[] args) throws Exception {
        Held held = new Held();
        switch (args[0]) {
            case "format": together(Held::format, Held::format, Held::parse); break;
            case "static": together(Held::count, Held::total); break;
            case "instance": together(held::put, held::values, held::putByGetter); break;
            case "set": together(held::add, held::contains); break;
            case "two": together(Held::both, Held::both); break;
            case "array": together(Held::increment, () -> CELLS[3] = 1, () -> store(CELLS)); break;
            case "local": local(); break;
            case "thrown": together(Held::fail, Held::fail); break;
            case "callers": callers(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }

    static void together(Runnable... bodies) throws InterruptedException {
        Thread[] threads = new Thread[bodies.length];
        for (int i = 0; i < bodies.length; i++) {
            Runnable body = bodies[i];
            threads[i] = new Thread(() -> {
                try {
                    body.run();
                } catch (RuntimeException broken) {
                    // What a broken collection throws is of no interest here.
                }
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    static void format() {
        for (int i = 0; i < 100; i++) FORMAT.format(new Date(i * 86_400_000L));
    }

    static void parse() {
        for (int i = 0; i < 100; i++) {
            try {
                FORMAT.parse("2020-01-02 10:11:12");
            } catch (ParseException | RuntimeException broken) {
                // As above.
            }
        }
    }

    static void count() {
        for (int i = 0; i < 100; i++) COUNTS.put("a" + i, i);
    }

    static void total() {
        for (int i = 0; i < 100; i++) COUNTS.get("a" + i);
        for (Integer one : COUNTS.values()) one.hashCode();
    }

    void put() {
        for (int i = 0; i < 100; i++) entries.put(i, "x");
    }

    void values() {
        for (int i = 0; i < 100; i++) entries.get(i);
        for (String one : entries.values()) one.length();
    }

    Map<Integer, String> entries() {
        return entries;
    }

    void putByGetter() {
        for (int i = 0; i < 100; i++) entries().put(i, "y");
    }

    void add() {
        for (int i = 0; i < 100; i++) seen.add(i);
    }

    void contains() {
        for (int i = 0; i < 100; i++) seen.contains(i);
    }

    static void both() {
        for (int i = 0; i < 100; i++) {
            COUNTS.put("a" + i, i); NAMES.put("b" + i, i);
        }
    }

    static void increment() {
        int[] mine = CELLS;
        for (int i = 0; i < mine.length; i++) mine[i]++;
    }

    static void store(int[] cells) {
        cells[3] = 2;
    }

    static void local() throws InterruptedException {
        Map<Integer, Integer> map = new HashMap<>();
        together(
                () -> { for (int i = 0; i < 100; i++) map.put(i, i); },
                () -> { for (int i = 0; i < 100; i++) map.get(i); },
                () -> { for (int i = 0; i < 100; i++) map.remove(i); });
    }

    /** The call of the list ends by an exception; what follows is about the map. */
    static void fail() {
        try {
            EMPTY.get(99);
        } catch (IndexOutOfBoundsException expected) {
            for (int i = 0; i < 100; i++) OWN.put(i, i);
        }
    }

    /** Before there is any race, the same statements of the JDK are executed often, by threads that end. */
    static void callers() throws InterruptedException {
        for (int i = 0; i < 60; i++) together(Held::early);
        together(Held::late, Held::late);
    }

    static void early() {
        Map<Integer, Integer> own = new HashMap<>();
        for (int i = 0; i < 100; i++) own.put(i, i);
    }

    static void late() {
        for (int i = 0; i < 100; i++) {
            synchronized (Thread.currentThread()) {
                COUNTS.put("late" + i, i);
            }
        }
    }
}
