package java.lang;

import static java.lang.PhotofinishNative.U;

/**
 * Virtual threads that run on carriers (JDK 21 and later). The state of one is a {@link
 * PhotofinishThread} in its own Thread object, so it goes with the continuation from carrier to
 * carrier. Carriers have no state: what they do for one continuation after another orders nothing.
 */
final class PhotofinishVirtual {
    /** The container of a thread; 0 in JDKs that have none. */
    private static final long CONTAINER = PhotofinishNative.offset(Thread.class, "container");

    private static final String CONCURRENT = "java.util.concurrent.";

    /**
     * JDK 21 to 23 show no agent a class that is loaded while a carrier wakes a virtual thread, or sees to it that
     * one is woken in time: without probes it would order threads unseen in the whole run. These may be used
     * there first, so they are loaded before a virtual thread starts. (The agent tells if there were others.)
     */
    private static final String[] USED_BY_CARRIERS = {
        "Callable", "CancellationException", "Delayed", "Executors", "Executors$RunnableAdapter", "ForkJoinPool",
        "ForkJoinPool$WorkQueue", "ForkJoinTask", "ForkJoinWorkerThread", "FutureTask", "FutureTask$WaitNode",
        "RejectedExecutionException", "RunnableScheduledFuture", "ScheduledThreadPoolExecutor",
        "ScheduledThreadPoolExecutor$DelayedWorkQueue", "ScheduledThreadPoolExecutor$ScheduledFutureTask",
        "ThreadPoolExecutor", "ThreadPoolExecutor$Worker", "TimeUnit",
    };

    private static boolean loaded;

    private PhotofinishVirtual() {}

    /**
     * Whether the thread runs continuations, or makes them ready to run, and nothing else. From JDK 24 on a virtual
     * thread that waits for a monitor goes on when "VirtualThread-unblocker" has been told: if that thread had
     * state, it would wait itself, for a monitor of the bridge's that is about to be such a thread's.
     */
    static boolean isCarrier(Thread thread) {
        String kind = thread.getClass().getName();
        return kind.equals("jdk.internal.misc.CarrierThread")
                || kind.equals("jdk.internal.misc.InnocuousThread") && thread.getName().startsWith("VirtualThread-un");
    }

    /** For the agent: whether the current thread is virtual, and on a carrier. */
    static int isMounted() {
        return Thread.currentThread().getClass().getName().equals("java.lang.VirtualThread") ? 1 : 0;
    }

    static boolean is(PhotofinishThread t) {
        return t != null && t.virtual;
    }

    static void start(PhotofinishThread t, Thread child) {
        if (!loaded) load();
        if (t != null && child.$pf == null) t.fork(child, true); // else it was started before, and this fails
    }

    private static void load() {
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        self.$pf = null; // what the runtime asks for its version has probes
        try {
            if (Runtime.version().feature() < 24) {
                for (String name : USED_BY_CARRIERS) PhotofinishNative.find(CONCURRENT.concat(name), null);
            }
        } finally {
            self.$pf = t;
        }
        loaded = true;
    }

    /** In the thread that ends, while it is mounted for the last time. */
    static void end(PhotofinishThread t, Thread self) {
        if (!is(t)) return;
        Object container = CONTAINER > 0 ? U.getReference(self, CONTAINER) : null;
        // That of an executor or a scope, which somebody may wait for; nobody waits for all threads.
        if (container != null && !container.getClass().getName().startsWith("jdk.internal.vm.")) {
            PhotofinishLocks.lastRelease(t, container);
        }
        PhotofinishThread.gone(self);
    }
}
