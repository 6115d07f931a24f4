package compared;

import compared.Classes.Cache;
import compared.Classes.Counter;
import compared.Classes.Letterbox;
import compared.Classes.Line;
import compared.Classes.LockedCounter;
import compared.Classes.StopFlag;

/** The bodies of the tests, as somebody would write them without any of the tools. */
public final class Scenarios {
    private Scenarios() {}

    public static void counter() throws Exception {
        Counter counter = new Counter();
        both(counter::add, counter::add);
        check(counter.get() == 2, "two calls, and " + counter.get());
    }

    public static void cache() throws Exception {
        Cache cache = new Cache();
        both(() -> cache.length("one"), () -> cache.length("three"));
        check(cache.length("one") == 3 && cache.length("three") == 5, "wrong length");
    }

    public static void stopFlag() throws Exception {
        StopFlag flag = new StopFlag();
        both(flag::stop, () -> {
            for (int i = 0; i < 3 && !flag.isStopped(); i++) Thread.yield();
        });
        check(flag.isStopped(), "not stopped");
    }

    public static void letterbox() throws Exception {
        Letterbox box = new Letterbox();
        int[] taken = new int[1];
        both(() -> box.put(42), () -> taken[0] = box.take());
        check(taken[0] == 0 || taken[0] == 42, "half a letter");
    }

    public static void line() throws Exception {
        Line line = new Line();
        both(() -> line.send("hello"), line::hangUp);
    }

    public static void lockedCounter() throws Exception {
        LockedCounter counter = new LockedCounter();
        both(counter::add, counter::add);
        check(counter.get() == 2, "two calls, and " + counter.get());
    }

    /** Runs both side by side, and fails if one of them does. */
    private static void both(Runnable first, Runnable second) throws Exception {
        Throwable[] failure = new Throwable[2];
        Thread a = new Thread(() -> failure[0] = failureOf(first));
        Thread b = new Thread(() -> failure[1] = failureOf(second));
        a.start();
        b.start();
        a.join();
        b.join();
        for (Throwable one : failure) if (one != null) throw new AssertionError("a thread failed", one);
    }

    private static Throwable failureOf(Runnable action) {
        try {
            action.run();
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) throw new AssertionError(otherwise);
    }
}
