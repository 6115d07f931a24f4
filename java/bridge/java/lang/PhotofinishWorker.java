package java.lang;

import static java.lang.PhotofinishNative.U;

import java.io.PrintStream;
import java.util.IdentityHashMap;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes execution after execution of an exploration in one JVM.
 *
 * <p>This runs in the JVM's first thread, which is not controlled. Each execution has a thread group
 * and a main thread of its own, and a class loader too, unless what its classes hold can be put back. What the JDK keeps in static fields and the program can
 * change is put back in between, as far as it is known here; what shows that this was not enough is
 * told, and the execution is made again in a JVM of its own.
 */
public final class PhotofinishWorker implements Runnable {
    /** Counters of the JDK that name things, or that decide what comes next. */
    private static final String[][] COUNTERS = {
        {"java/lang/ThreadLocal", "nextHashCode"},
        {"java/lang/invoke/InnerClassLambdaMetafactory", "counter"},
        {"java/util/concurrent/ThreadLocalRandom", "probeGenerator"},
        {"java/util/concurrent/Executors$DefaultThreadFactory", "poolNumber"},
    };

    private static final String[][] LONG_COUNTERS = {
        {"java/util/Random", "seedUniquifier"},
        {"java/util/concurrent/ThreadLocalRandom", "seeder"},
    };

    private static final long TID = PhotofinishNative.offset(Thread.class, "tid");

    private final String main;
    private final String[] args;
    private final ClassLoader finder = ClassLoader.getSystemClassLoader();
    private final AtomicInteger[] counters = new AtomicInteger[COUNTERS.length];
    private final int[] counts = new int[COUNTERS.length];
    private final AtomicLong[] longCounters = new AtomicLong[LONG_COUNTERS.length];
    private final long[] longCounts = new long[LONG_COUNTERS.length];
    private final long mainId = TID > 0 ? U.getLong(Thread.currentThread(), TID) : 0;
    private final long nextId;
    private final long nextNumber;
    private final Properties properties = System.getProperties();
    private final Properties first;
    private final Object in = System.in;
    private final PrintStream out = System.out;
    private final PrintStream err = System.err;
    private final IdentityHashMap<?, ?> hooks;
    private final int hookCount;
    private PhotofinishLoader loader;

    private PhotofinishWorker(String main, String[] args) {
        this.main = main;
        this.args = args;
        for (int i = 0; i < counters.length; i++) {
            String[] c = COUNTERS[i];
            counters[i] = (AtomicInteger) get(c[0], c[1], "Ljava/util/concurrent/atomic/AtomicInteger;");
            if (counters[i] != null) counts[i] = counters[i].get();
        }
        for (int i = 0; i < longCounters.length; i++) {
            String[] c = LONG_COUNTERS[i];
            longCounters[i] = (AtomicLong) get(c[0], c[1], "Ljava/util/concurrent/atomic/AtomicLong;");
            if (longCounters[i] != null) longCounts[i] = longCounters[i].get();
        }
        nextId = PhotofinishNative.getStaticLong("java/lang/Thread", "threadSeqNumber", false);
        nextNumber = PhotofinishNative.getStaticLong("java/lang/Thread", "threadInitNumber", true);
        first = (Properties) properties.clone();
        hooks = (IdentityHashMap<?, ?>)
                get("java/lang/ApplicationShutdownHooks", "hooks", "Ljava/util/IdentityHashMap;");
        hookCount = hooks == null ? 0 : hooks.size();
    }

    private static Object get(String owner, String field, String type) {
        return PhotofinishNative.getStatic(owner, field, type);
    }

    private static void set(String owner, String field, String type, Object value) {
        PhotofinishNative.setStatic(owner, field, type, value);
    }

    /** In place of the program's main method. */
    public static void serve(Class<?> instead, String[] args) {
        PhotofinishWorker worker = new PhotofinishWorker(instead.getName(), args);
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        PhotofinishThread.brief = true;
        while (PhotofinishNative.nextExecution()) {
            self.$pf = null; // what is done here is nobody's
            worker.reset();
            if (worker.loader != null) worker.loader.statics.putBack();
            self.$pf = t;
            PhotofinishControl.restart();
            PhotofinishClocks.acquireAll(t); // all that was comes before all that will be
            worker.begin();
            PhotofinishNative.awaitEnd();
            self.$pf = null;
            if (!PhotofinishNative.keeps(worker.loader.statics.why())) worker.loader = null;
            self.$pf = t;
            PhotofinishNative.answer(worker.complaint());
        }
    }

    private void reset() {
        for (int i = 0; i < counters.length; i++) {
            if (counters[i] != null) counters[i].set(counts[i]);
        }
        for (int i = 0; i < longCounters.length; i++) {
            if (longCounters[i] != null) longCounters[i].set(longCounts[i]);
        }
        if (System.getProperties() != properties) {
            set("java/lang/System", "props", "Ljava/util/Properties;", properties);
        }
        if (!properties.equals(first)) putBack();
        if (System.in != in) set("java/lang/System", "in", "Ljava/io/InputStream;", in);
        if (System.out != out) set("java/lang/System", "out", "Ljava/io/PrintStream;", out);
        if (System.err != err) set("java/lang/System", "err", "Ljava/io/PrintStream;", err);
        set(
                "java/lang/Thread",
                "defaultUncaughtExceptionHandler",
                "Ljava/lang/Thread$UncaughtExceptionHandler;",
                null);
    }

    /** Entry by entry: the table inside is to be as it was. */
    private void putBack() {
        for (Object key : properties.keySet().toArray()) {
            if (!first.containsKey(key)) properties.remove(key);
        }
        for (Object key : first.keySet()) {
            Object value = first.get(key);
            if (!value.equals(properties.get(key))) properties.put(key, value);
        }
    }

    private void begin() {
        if (loader == null) {
            loader = PhotofinishLoader.current = new PhotofinishLoader(finder);
            set("java/lang/ClassLoader", "scl", "Ljava/lang/ClassLoader;", loader);
        }
        ThreadGroup system = Thread.currentThread().getThreadGroup().getParent();
        Thread thread = new Thread(new ThreadGroup(system, "main"), this, "main");
        thread.setContextClassLoader(loader);
        PhotofinishNative.setStaticLong("java/lang/Thread", "threadSeqNumber", false, nextId);
        PhotofinishNative.setStaticLong("java/lang/Thread", "threadInitNumber", true, nextNumber);
        thread.start();
    }

    /** What the execution left behind that the next would notice; null if it is nothing. */
    private String complaint() {
        if (hooks != null && hooks.size() != hookCount) return "it has shutdown hooks";
        return null;
    }

    /**
     * The program's main thread. It says that it has the number of the JVM's own, and only once it runs: from JDK 24 on, the JVM
     * knows the owner of a monitor by the number that the thread had when it was started, which must be nobody else's (1 would be
     * an owner that is not known).
     */
    @Override
    public void run() {
        if (TID > 0) U.putLong(Thread.currentThread(), TID, mainId);
        try {
            PhotofinishNative.callMain(Class.forName(main, false, loader), args.clone());
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(main);
        }
    }
}
