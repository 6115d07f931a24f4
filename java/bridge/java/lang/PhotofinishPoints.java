package java.lang;

import static java.lang.PhotofinishConstants.*;

import java.lang.invoke.VarHandle;

/**
 * The calls that rewritten code makes when threads are controlled, and at no other time: before what other threads
 * can notice, where the JVM must not be disturbed, and when a thread ends by an exception. Thin, as {@link
 * Photofinish} is; {@link PhotofinishControl} does the work.
 */
public final class PhotofinishPoints {
    private PhotofinishPoints() {}

    /** Iterations of loops without a point after which a thread is taken to spin. */
    static final int LONG = 10_000;

    /** Those that are left to the running thread. */
    static int budget = LONG;

    public static void loop() {
        if (--budget < 0) spun();
    }

    private static void spun() {
        budget = LONG;
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.spun(t);
    }

    public static void spinWait() {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.spinWait(t);
    }

    public static void entering(Object o, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishControl.entering(t, o, site, true);
    }

    /** In classes that have no points: only what must not block is waited for. */
    public static void enteringQuietly(Object o, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishControl.entering(t, o, site, false);
    }

    public static void beforeRead(Object o, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishControl.field(t, o, site, false);
    }

    public static void beforeWrite(Object o, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishControl.field(t, o, site, true);
    }

    public static void beforeReadStatic(int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.field(t, null, site, false);
    }

    public static void beforeWriteStatic(int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.field(t, null, site, true);
    }

    public static void targetField(Object o, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishControl.target(t, o, site);
    }

    public static void targetStatic(int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.target(t, null, site);
    }

    public static void targetElem(Object array, int index, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.element(t, array, index, site);
    }

    /** Elements of an array, all from `from` on if `length` is -1: with others of the same operation, see below. */
    public static void targetRange(Object array, int from, int length, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && array != null) PhotofinishControl.range(t, array, from, length, site);
    }

    /** The ranges named before are about to be accessed, all in one. */
    public static void targetRanges() {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.ranges(t);
    }

    // Accesses to locations whose reads may see older writes.

    public static void seeingField(Object o, char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishWeak.field(t, o, of, site, false);
    }

    public static void seeingStatic(char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.field(t, null, of, site, false);
    }

    public static void seeingElem(Object array, int index, char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.element(t, array, index, of, site, false);
    }

    public static void seen() {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.restore(t);
    }

    public static void leavingField(Object o, char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && o != null) PhotofinishWeak.field(t, o, of, site, true);
    }

    public static void leavingStatic(char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.field(t, null, of, site, true);
    }

    public static void leavingElem(Object array, int index, char of, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.element(t, array, index, of, site, true);
    }

    public static void left() {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishWeak.left(t);
    }

    public static void lockPoint(Object key, int what, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.lockPoint(t, key, what, site);
    }

    /** Thread.join begins. */
    public static void joining(Object thread, long millis) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.joining(t, thread, millis);
    }

    /** A thread, or if null the current one, is asked whether it is alive (0), or interrupted (1, and cleared 2). */
    public static void asking(Object thread, int what) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.asking(t, thread, what);
    }

    public static void waits(int loop) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.loop(t, loop, LOOP_AGAIN);
    }

    public static void loopHead(int loop) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.loop(t, loop, LOOP_HEAD);
    }

    public static void loopLeft(int loop) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.loop(t, loop, LOOP_LEFT);
    }

    public static void localInt(int value) {
        localLong(value);
    }

    public static void localLong(long value) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.local(t, value);
    }

    public static void localFloat(float value) {
        localLong(Float.floatToRawIntBits(value));
    }

    public static void localDouble(double value) {
        localLong(Double.doubleToRawLongBits(value));
    }

    public static void localReference(Object value) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.local(t, value);
    }

    public static void wrote() {
        PhotofinishThread t = Photofinish.self();
        if (t != null && (t.linking | t.unwatched) == 0) t.writes++; // what the JVM does to link is done once
    }

    public static void rawPoint(Object o, long offset, int code, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishControl.rawPoint(t, o, offset, code, site);
    }

    public static void vhPoint(VarHandle vh, Object base, int index, int code, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t == null) return;
        boolean reads = (code & ACCESS_OP_MASK) != ACCESS_WRITE; // the end of a write is not told
        if (reads && (t.handleSite == 0 || t.handleSite == site)) {
            t.handleSite = site;
            t.handleWrites = t.writes;
        }
        PhotofinishControl.vhPoint(t, vh, base, index, code, site);
    }

    public static void casResult(boolean done, int site) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && !done) PhotofinishControl.failedCas(t, site);
    }

    public static void tryResult(boolean done) {
        PhotofinishThread t = Photofinish.self();
        if (t != null && !done) PhotofinishControl.failed(t);
    }

    /** A class is loaded or linked: the JVM waits for it, with locks of its own held. */
    // Static initialisers run before the VM has its first thread; in JDK 19 and later it must not be asked for then.

    public static void linkingBegin() {
        PhotofinishThread t = PhotofinishThread.any ? Photofinish.self() : null;
        if (t != null) t.linking++;
    }

    public static void linkingEnd() {
        PhotofinishThread t = PhotofinishThread.any ? Photofinish.self() : null;
        if (t != null && t.linking > 0) t.linking--;
    }

    /** Nobody caught it: the thread ends. */
    public static void uncaught(Object exception) {
        PhotofinishThread t = Photofinish.self();
        if (t != null) PhotofinishNative.uncaught((Throwable) exception);
    }
}
