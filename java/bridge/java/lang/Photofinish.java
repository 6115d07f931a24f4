package java.lang;

import static java.lang.PhotofinishConstants.*;

import java.lang.invoke.VarHandle;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The calls that rewritten code makes; {@link PhotofinishPoints} has those of controlled runs.
 *
 * <p>These run from the first bytecode of the VM on. Until the agent gives the current thread its
 * {@link PhotofinishThread}, nothing happens here and no other class is touched; that is also how
 * the agent keeps probes quiet while it runs Java code of its own.
 */
public final class Photofinish {
    private Photofinish() {}

    static PhotofinishThread self() {
        Thread t = Thread.currentThread();
        return t == null ? null : t.$pf; // null while the VM makes its first thread; compiled code does not ask
    }

    // Data.

    public static void read(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.read(t, o, site);
        else PhotofinishFastTrack.read(t, o, site);
    }

    /** A field is about to be read, when the order of accesses is recorded. */
    public static void reading(Object o, int site) {
        if (o != null) read(o, site);
    }

    /** The access that the last probe was about is done, when the order of accesses is recorded. */
    public static void accessed() {
        PhotofinishThread t = self();
        if (t != null) PhotofinishOrder.end(t);
    }

    public static void write(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null || o == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.write(t, o, site);
        else PhotofinishFastTrack.write(t, o, site);
    }

    /** A constructor writes a field of `this`. */
    public static void initialise(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.write(t, o, site);
        else PhotofinishFastTrack.initialise(t, o, site);
    }

    public static void readStatic(int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.read(t, null, site);
        else PhotofinishFastTrack.read(t, null, site);
    }

    public static void writeStatic(int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.write(t, null, site);
        else PhotofinishFastTrack.write(t, null, site);
    }

    public static void readElem(Object array, int index, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.elem(t, array, index, site, false);
        else PhotofinishFastTrack.readElem(t, array, index, site);
    }

    public static void writeElem(Object array, int index, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.elem(t, array, index, site, true);
        else PhotofinishFastTrack.writeElem(t, array, index, site);
    }

    // Calls of the program into the JDK: which one a thread is in says whose an access there is.

    public static int calling(int site) {
        PhotofinishThread t = self();
        if (t == null) return 0;
        int before = t.call;
        t.call = site;
        return before;
    }

    public static void called(int before) {
        PhotofinishThread t = self();
        if (t != null) t.call = before;
    }

    /** An exception may have left calls without their ends. */
    public static void thrown() {
        PhotofinishThread t = self();
        if (t != null) t.call = 0;
    }

    // Elements whose checks are put off until a loop ends; see instrument/src/deferred.

    public static long epoch() {
        PhotofinishThread t = self();
        return t == null ? 0 : t.epoch;
    }

    @ForceInline
    public static int trackRead(Object array, int index, Object kept, int first, int last, int stride, long epoch, int site) {
        if (array == kept && index == last + stride) return first;
        if (kept != null) readRange(kept, first, last, stride, epoch, site);
        return index;
    }

    @ForceInline
    public static int trackWrite(Object array, int index, Object kept, int first, int last, int stride, long epoch, int site) {
        if (array == kept && index == last + stride) return first;
        if (kept != null) writeRange(kept, first, last, stride, epoch, site);
        return index;
    }

    @DontInline
    public static void readRange(Object array, int first, int last, int stride, long epoch, int site) {
        if (array == null) return;
        PhotofinishThread t = self();
        if (t != null && t.epoch == epoch) PhotofinishRanges.check(t, array, first, last, stride, site, false);
    }

    @DontInline
    public static void writeRange(Object array, int first, int last, int stride, long epoch, int site) {
        if (array == null) return;
        PhotofinishThread t = self();
        if (t != null && t.epoch == epoch) PhotofinishRanges.check(t, array, first, last, stride, site, true);
    }

    @ForceInline
    public static void readOnce(Object array, int index, Object before, int at, int site) {
        if (array != before || index != at) readElem(array, index, site);
    }

    @ForceInline
    public static void writeOnce(Object array, int index, Object before, int at, int site) {
        if (array != before || index != at) writeElem(array, index, site);
    }

    @ForceInline
    public static void readFieldOnce(Object o, Object before, int site) {
        if (o != before) read(o, site);
    }

    @ForceInline
    public static void writeFieldOnce(Object o, Object before, int site) {
        if (o != before) write(o, site);
    }

    public static void arraycopy(Object src, int from, Object dst, int to, int length, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishRanges.copied(t, src, from, dst, to, length, site);
    }

    public static void cloneArray(Object array, int site) {
        PhotofinishThread t = self();
        if (t != null && array != null) {
            PhotofinishRanges.copied(t, array, 0, null, 0, PhotofinishTable.length(array), site);
        }
    }

    public static void reflectedRead(Object array, int index, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishRanges.element(t, array, index, site, false);
    }

    public static void reflectedWrite(Object array, int index, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishRanges.element(t, array, index, site, true);
    }

    public static void comparing(Object a, int from, Object b, int from2, int length, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishRanges.comparing(t, a, from, b, from2, length, site);
    }

    public static void mismatch(int at, Object a, int from, Object b, int from2, int length, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishRanges.compared(t, at, a, from, b, from2, length, site);
    }

    /** The fields we added were copied by Object.clone; the copy must not inherit them. */
    public static void cloned(Object copy) {
        PhotofinishThread t = self();
        if (t == null || copy == null) return;
        PhotofinishHandles.forget(copy);
    }

    /** A constructor ends: what its final fields lead to is now visible to threads that read them. */
    public static void freeze(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        long off = PhotofinishNative.U.getLong(at);
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (off <= 0) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.freeze(t, o, off, PhotofinishNative.U.getLong(at + SITE_THIRD), site);
        else PhotofinishClocks.freeze(t, o, off);
    }

    public static void newObject(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null || o == null) return;
        long off = PhotofinishNative.U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (off > 0) PhotofinishNative.U.putInt(o, off, site);
    }

    public static void newArray(Object o, int site) {
        PhotofinishThread t = self();
        if (t != null) t.allocated(o, site);
    }

    // Atomic accesses. What `code` means: see instrument/src/atomic.rs.

    public static void rawBefore(Object o, long offset, int code, int site) {
        PhotofinishThread t = self();
        if (t == null || t.quiet != 0) return;
        PhotofinishHandles.raw(t, o, offset, code, site, PhotofinishHandles.BEFORE);
    }

    public static void rawAfter(Object o, long offset, int code, int site) {
        PhotofinishThread t = self();
        if (t != null) rawAfter(t, t.exchanged == 0, o, offset, code, site);
    }

    public static void rawAfterCas(boolean done, Object o, long offset, int code, int site) {
        PhotofinishThread t = self();
        if (t != null) rawAfter(t, done, o, offset, code, site);
    }

    private static void rawAfter(PhotofinishThread t, boolean done, Object o, long offset, int code, int site) {
        t.exchanged = 0;
        if (t.quiet != 0) return;
        int when = done ? PhotofinishHandles.DONE : PhotofinishHandles.FAILED;
        PhotofinishHandles.raw(t, o, offset, code, site, when);
        if (t.updating != null) PhotofinishControl.updated(t, site);
    }

    public static void vhBefore(VarHandle vh, Object base, int index, int code, int site) {
        PhotofinishThread t = self();
        if (t == null || t.quiet != 0) return;
        PhotofinishHandles.varHandle(t, vh, base, index, code, site, PhotofinishHandles.BEFORE);
    }

    public static void vhAfter(VarHandle vh, Object base, int index, int code, int site) {
        PhotofinishThread t = self();
        if (t != null) vhAfter(t, PhotofinishHandles.exchanged(t, vh, site), vh, base, index, code, site);
    }

    public static void vhAfterCas(boolean done, VarHandle vh, Object base, int index, int code, int site) {
        PhotofinishThread t = self();
        if (t != null) vhAfter(t, done, vh, base, index, code, site);
    }

    private static void vhAfter(
            PhotofinishThread t, boolean done, VarHandle vh, Object base, int index, int code, int site) {
        t.exchanged = 0;
        if (t.handleSite == site) {
            t.handleSite = 0;
            t.writes = t.handleWrites;
        }
        if (t.quiet != 0) return;
        int when = done ? PhotofinishHandles.DONE : PhotofinishHandles.FAILED;
        PhotofinishHandles.varHandle(t, vh, base, index, code, site, when);
        if (t.updating != null) PhotofinishControl.updated(t, site);
    }

    // A compare-and-exchange is told by what it saw, and what it wanted to see. One of which nothing is told
    // counts as one that succeeded.

    public static void exchangedInt(int witness, int expected) {
        exchanged(witness == expected ? 0 : PhotofinishHandles.OTHER_NUMBER);
    }

    public static void exchangedLong(long witness, long expected) {
        exchanged(witness == expected ? 0 : PhotofinishHandles.OTHER_NUMBER);
    }

    // These are compared by their bits, and of those that are no number one is as good as another.

    public static void exchangedFloat(float witness, float expected) {
        exchangedInt(Float.floatToIntBits(witness), Float.floatToIntBits(expected));
    }

    public static void exchangedDouble(double witness, double expected) {
        exchangedLong(Double.doubleToLongBits(witness), Double.doubleToLongBits(expected));
    }

    public static void exchangedReference(Object witness, Object expected) {
        exchanged(witness == expected ? 0 : PhotofinishHandles.OTHER_REFERENCE);
    }

    private static void exchanged(int how) {
        PhotofinishThread t = self();
        if (t != null) t.exchanged = how;
    }

    /** Explicit fences order through one imaginary variable: more than they promise, never less. */
    public static void fence(int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        PhotofinishLocks.syncAcquire(t, PhotofinishTable.FENCE, site);
        PhotofinishLocks.syncRelease(t, PhotofinishTable.FENCE, site);
    }

    // Locks.

    public static void enter(Object o, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.enter(t, PhotofinishTable.near(t, o, site), PhotofinishLocks.MONITOR, site);
    }

    /** Trusted code takes a monitor, and keeps data behind it. */
    public static void enterTrusted(Object o, int site) {
        PhotofinishThread t = self();
        if (t != null) enterTrusted(t, PhotofinishTable.near(t, o, site), site);
    }

    public static void enterStaticTrusted(int site) {
        PhotofinishThread t = self();
        if (t != null) enterTrusted(t, PhotofinishNative.classOf(t, site), site);
    }

    private static void enterTrusted(PhotofinishThread t, PhotofinishShadow s, int site) {
        if (s != PhotofinishTable.NONE) s.keeps = true;
        PhotofinishLocks.enter(t, s, PhotofinishLocks.MONITOR, site);
    }

    /** Trusted code is about to call a modelled method that takes a lock. */
    public static void trusting() {
        PhotofinishThread t = self();
        if (t != null) t.trusting = 1;
    }

    /** The lock that was taken, if it is known; one behind which trusted code keeps data is noted as such. */
    private static PhotofinishShadow taken(PhotofinishThread t, Object sync, int site) {
        PhotofinishShadow s = PhotofinishLocks.lockOf(t, sync, site);
        if (t.trusting != 0) {
            t.trusting = 0;
            if (s != PhotofinishTable.NONE) s.keeps = true;
        }
        return s;
    }

    public static void exit(Object o, int site) {
        PhotofinishThread t = self();
        if (t != null && o != null) {
            PhotofinishLocks.exit(t, PhotofinishTable.near(t, o, site), PhotofinishLocks.MONITOR, site);
        }
    }

    public static void enterStatic(int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        PhotofinishShadow c = PhotofinishNative.classOf(t, site);
        PhotofinishLocks.enter(t, c, PhotofinishLocks.MONITOR, site);
    }

    public static void exitTop(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.exitTop(t, site);
    }

    /** Inside a modelled method: its own synchronisation is not the program's. */
    public static void modelBegin() {
        PhotofinishThread t = self();
        if (t == null) return;
        if (t.opened) { // an exploration looks inside
            t.opened = false;
            return;
        }
        t.quiet++;
        t.trusting = t.trusting == 1 ? 2 : 0; // the last one may have ended without its lock
    }

    public static void modelEnd() {
        PhotofinishThread t = self();
        if (t != null && t.quiet > 0) t.quiet--;
    }

    /** The JDK at work for itself; its data is not the program's. */
    public static void unwatchedBegin() {
        PhotofinishThread t = self();
        if (t != null) t.unwatched++;
    }

    public static void unwatchedEnd() {
        PhotofinishThread t = self();
        if (t != null && t.unwatched > 0) t.unwatched--;
    }

    /** The JVM loads a class or links a call: nothing of that is the program's, see instrument/src/models.rs. */
    public static void loadingBegin() {
        PhotofinishThread t = self();
        if (t != null) t.loadingBegin();
    }

    public static void loadingEnd() {
        PhotofinishThread t = self();
        if (t != null) t.loadingEnd();
    }

    public static void lockAcquired(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.enter(t, taken(t, sync, site), PhotofinishLocks.LOCK, site);
    }

    public static void lockTried(boolean got, Object sync, int site) {
        if (got) lockAcquired(sync, site);
    }

    public static void lockReleasing(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.exit(t, PhotofinishLocks.lockOf(t, sync, site), PhotofinishLocks.LOCK, site);
    }

    public static void lockSharedAcquired(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.enterShared(t, taken(t, sync, site), site);
    }

    public static void lockSharedTried(boolean got, Object sync, int site) {
        if (got) lockSharedAcquired(sync, site);
    }

    public static void lockSharedReleasing(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.exitShared(t, PhotofinishLocks.lockOf(t, sync, site), site);
    }

    public static void stampWrite(long stamp, Object lock, int site) {
        if (stamp != 0) lockAcquired(lock, site);
    }

    public static void stampRead(long stamp, Object lock, int site) {
        if (stamp != 0) lockSharedAcquired(lock, site);
    }

    public static void stampConverting(Object lock, int mode, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.stampConverting(t, lock, mode, site);
    }

    public static void stampConverted(long stamp, Object lock, int mode, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.stampConverted(t, lock, stamp != 0, mode, site);
    }

    public static void stampRelease(Object lock, int mode, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.stampRelease(t, lock, mode, site);
    }

    public static void awaitBegin(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.waitBegin(t, PhotofinishLocks.lockOf(t, sync, site), site);
    }

    public static void awaitEnd(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.waitEnd(t, site);
    }

    public static void signal(Object sync, int site) {
        PhotofinishThread t = self();
        if (t != null && PhotofinishNative.EVENTS) PhotofinishEvents.notified(t, PhotofinishLocks.lockOf(t, sync, site), true, site);
    }

    // Other edges.

    public static void syncRelease(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null || o == null || t.quiet != 0) return; // the task of a virtual thread, for carriers only
        if (!finalizer(site)) PhotofinishLocks.syncRelease(t, o, site);
        else if (PhotofinishNative.EVENTS) PhotofinishLocks.syncRelease(t, PhotofinishTable.FINALIZABLE, site);
    }

    public static void syncAcquire(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null || o == null) return;
        if (!finalizer(site)) PhotofinishLocks.syncAcquire(t, o, site);
        else if (PhotofinishNative.EVENTS) PhotofinishLocks.syncAcquire(t, PhotofinishTable.FINALIZABLE, site);
        else PhotofinishClocks.acquireAll(t);
    }

    public static void constructed(Object o, int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        long inherits = PhotofinishNative.U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT));
        if (inherits == 0) inherits = PhotofinishNative.resolveFor(t, site, o);
        if (inherits > 0) PhotofinishLocks.syncRelease(t, PhotofinishTable.FINALIZABLE, site);
    }

    /** Whether the site is the end of a constructor or the start of a finaliser. */
    private static boolean finalizer(int site) {
        return PhotofinishNative.U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT)) == SITE_FINALIZER;
    }

    public static void initBegin(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.initBegin(t, site);
    }

    public static void initEnd(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishLocks.initEnd(t, site);
    }

    /** The VM shuts down because all threads but daemons have ended. */
    public static void threadsEnded(int site) {
        PhotofinishThread t = self();
        if (t == null) return;
        if (PhotofinishControl.ON) PhotofinishNative.adopt();
        PhotofinishLocks.syncAcquire(t, PhotofinishThread.ENDED, site);
    }

    public static void threadAlive(boolean alive, Object thread) {
        if (!alive) terminated((Thread) thread);
    }

    public static void threadState(Object state, Object thread) {
        if (state == Thread.State.TERMINATED) terminated((Thread) thread);
    }

    // Virtual threads; see PhotofinishVirtual.

    public static void virtualStart(Object thread) {
        PhotofinishVirtual.start(self(), (Thread) thread);
    }

    public static void virtualEnd() {
        PhotofinishVirtual.end(self(), Thread.currentThread());
    }

    public static void threadJoined(boolean ended, Object thread) {
        if (ended) terminated((Thread) thread);
    }

    public static void interrupting(Object thread) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishHandles.releaseInterrupt(t, (Thread) thread);
    }

    public static void interruptSeen(Object thread) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishHandles.acquireInterrupt(t, (Thread) thread);
    }

    public static void virtualWaiting(Object o) {
        if (PhotofinishVirtual.is(self())) waiting(o);
    }

    public static void virtualWaited() {
        if (PhotofinishVirtual.is(self())) awaitEnd(0);
    }

    public static void syncAcquireIf(boolean so, Object key, int site) {
        if (so) syncAcquire(key, site);
    }

    /** For code whose compiler shall not see that two locks are one, see instrument/src/monitor.rs. */
    public static Object itself(Object o) {
        return o;
    }

    // The way through the code, when recording for prediction.

    public static void methodBegin(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.method(t, EVENT_METHOD_ENTER, site);
    }

    public static void methodThrown(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.method(t, EVENT_METHOD_EXIT, site);
    }

    public static void caught(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.method(t, EVENT_BRANCH, site);
    }

    public static void step() {
        PhotofinishThread t = self();
        if (t != null && t.unwatched == 0) t.steps++;
    }

    public static void back() {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, 1);
    }

    public static void switched(int key, int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.switched(t, key, site);
    }

    public static void ifZero(int a) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a == 0 ? 1 : 0);
    }

    public static void ifLess(int a) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a < 0 ? 1 : 0);
    }

    public static void ifMore(int a) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a > 0 ? 1 : 0);
    }

    public static void ifSame(int a, int b) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a == b ? 1 : 0);
    }

    public static void ifBelow(int a, int b) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a < b ? 1 : 0);
    }

    public static void ifAbove(int a, int b) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a > b ? 1 : 0);
    }

    public static void ifSameRef(Object a, Object b) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a == b ? 1 : 0);
    }

    public static void ifNull(Object a) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishFlow.decided(t, a == null ? 1 : 0);
    }

    // Runs that look for hidden races; see PhotofinishMayTrigger.

    public static void frameBegin(int site) {
        PhotofinishThread t = self();
        if (t != null) PhotofinishMayTrigger.begin(t, site);
    }

    public static void frameEnd() {
        PhotofinishThread t = self();
        if (t != null) PhotofinishMayTrigger.end(t);
    }

    // Called by the agent around natives that it has wrapped.

    static void forking(Thread child) {
        PhotofinishThread t = self();
        if (t != null && !PhotofinishVirtual.isCarrier(child)) t.fork(child, false);
    }

    private static void terminated(Thread other) {
        PhotofinishThread t = self();
        if (t != null && other != null && other.$pf != null) t.join(other.$pf);
    }

    static void waiting(Object o) {
        PhotofinishThread t = self();
        if (t == null) return;
        PhotofinishShadow s = PhotofinishTable.near(t, o, 0);
        s.contended = true; // a notified thread waits for the monitor
        PhotofinishLocks.waitBegin(t, s, 0);
    }

    static void waited(Object o, boolean interrupted) {
        awaitEnd(0);
        if (interrupted) interrupted();
    }

    static void notifying(Object o, boolean all) {
        PhotofinishThread t = self();
        if (t != null && PhotofinishNative.EVENTS) PhotofinishEvents.notified(t, PhotofinishTable.near(t, o, 0), all, 0);
    }

    /** An InterruptedException is about to be thrown: what interrupt() released is now acquired. */
    static void interrupted() {
        interruptSeen(Thread.currentThread());
    }
}
