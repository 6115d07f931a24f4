package java.lang;

import static java.lang.PhotofinishConstants.*;

/**
 * Who holds what. A lock is found by the object it belongs to: the one whose monitor it is, or the
 * synchroniser inside a `java.util.concurrent` lock. Re-entrant acquisitions are counted and order
 * nothing.
 *
 * <p>Stamped locks belong to the holder of the stamp, not to a thread. One that is seen to be unlocked
 * by another thread than the one that locked it still orders, but counts as held by nobody.
 */
final class PhotofinishLocks {
    static final byte MONITOR = 0;
    static final byte LOCK = 1;
    static final byte SHARED = 2;

    private PhotofinishLocks() {}

    /** The lock of java.util.concurrent that an object stands for, apart from its monitor. */
    static PhotofinishShadow lockOf(PhotofinishThread t, Object o, int site) {
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        if (s.lock != null || s == PhotofinishTable.NONE) return s.lock == null ? s : s.lock;
        synchronized (s) {
            if (s.lock == null) {
                PhotofinishShadow lock = new PhotofinishShadow(o, s.hash);
                PhotofinishNative.U.storeFence(); // others must not see a half-made one
                s.lock = lock;
            }
            return s.lock;
        }
    }

    static void enter(PhotofinishThread t, PhotofinishShadow s, byte kind, int site) {
        if (PhotofinishNative.BUDGET && kind == MONITOR) push(t, s, kind);
        if (PhotofinishNative.BUDGET || s.loose) {
            enterLoose(t, s, true, site);
            return;
        }
        push(t, s, kind);
        if (s == PhotofinishTable.NONE) return; // unknown: there only for its end to find
        if (s.holder == t) {
            s.holds++;
        } else {
            s.holder = t;
            s.holds = 1;
            if (PhotofinishMayTrigger.ON) PhotofinishMayTrigger.took(t, s, site);
            acquired(t, s, site, EVENT_ACQUIRE);
        }
        if (s.keeps) PhotofinishEvents.kept(t, s, false, site);
    }

    private static void acquired(PhotofinishThread t, PhotofinishShadow s, int site, int event) {
        if (PhotofinishNative.BARE) return;
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, event, site, PhotofinishEvents.shadowId(s));
            return;
        }
        int[] c = s.clock;
        if (c != null) PhotofinishClocks.acquire(t, c);
        c = s.sharedClock;
        if (c != null) PhotofinishClocks.acquire(t, c);
    }

    private static void releasing(PhotofinishThread t, PhotofinishShadow s, int site, int event) {
        if (PhotofinishNative.BARE) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.sync(t, event, site, PhotofinishEvents.shadowId(s));
        else s.clock = PhotofinishClocks.release(t, s.clock);
    }

    static void exit(PhotofinishThread t, PhotofinishShadow s, byte kind, int site) {
        if (PhotofinishNative.BUDGET) {
            if (kind == MONITOR) pop(t, s, kind);
            exitLoose(t, s, true, site);
            return;
        }
        if (PhotofinishControl.EXPLORE && kind == MONITOR) PhotofinishControl.exiting(t, s, site);
        if (s == PhotofinishTable.NONE) pop(t, s, kind);
        if (s.holder != t) return; // not ours: the JVM throws, or it was taken before we looked
        pop(t, s, kind);
        if (--s.holds > 0) return;
        s.holder = null;
        releasing(t, s, site, EVENT_RELEASE);
        if (s.contended) PhotofinishControl.released(s);
    }

    /** End of a synchronised method: monitors are taken and given back in order, so it is the last one. */
    static void exitTop(PhotofinishThread t, int site) {
        for (int i = t.heldCount - 1; i >= 0; i--) {
            if (t.heldKinds[i] == MONITOR) {
                exit(t, t.held[i], MONITOR, site);
                return;
            }
        }
        // Taken while probes rested, and nobody knows which it is.
        if (PhotofinishNative.BUDGET) exitLoose(t, PhotofinishTable.NONE, true, site);
    }

    static void enterShared(PhotofinishThread t, PhotofinishShadow s, int site) {
        if (PhotofinishNative.BUDGET || s.loose) {
            enterLoose(t, s, false, site);
            return;
        }
        boolean first = indexOf(t, s, SHARED) < 0;
        push(t, s, SHARED);
        if (!first) return;
        if (PhotofinishMayTrigger.ON) PhotofinishMayTrigger.took(t, s, site);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_ACQUIRE_SHARED, site, PhotofinishEvents.shadowId(s));
        } else {
            int[] c = s.clock;
            if (c != null) PhotofinishClocks.acquire(t, c);
        }
        if (s.keeps) PhotofinishEvents.kept(t, s, true, site);
    }

    static void exitShared(PhotofinishThread t, PhotofinishShadow s, int site) {
        if (PhotofinishNative.BUDGET) {
            exitLoose(t, s, false, site);
            return;
        }
        if (indexOf(t, s, SHARED) < 0) return;
        pop(t, s, SHARED);
        if (indexOf(t, s, SHARED) >= 0) return;
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_RELEASE_SHARED, site, PhotofinishEvents.shadowId(s));
        } else {
            synchronized (s) { // other readers release at the same time
                s.sharedClock = PhotofinishClocks.releaseInto(t, s.sharedClock);
            }
        }
    }

    /** Mode STAMPED_NONE: whichever is held. */
    static void stampRelease(PhotofinishThread t, Object lock, int mode, int site) {
        PhotofinishShadow s = lockOf(t, lock, site);
        if (PhotofinishNative.BUDGET) {
            if (mode != STAMPED_READ) exitLoose(t, s, true, site);
            if (mode != STAMPED_WRITE) exitLoose(t, s, false, site);
            return;
        }
        boolean write = mode == STAMPED_WRITE || mode == STAMPED_NONE && s.holder == t;
        if (!s.loose && !(write ? s.holder == t : indexOf(t, s, SHARED) >= 0)) {
            s.loose = true;
            s.holder = null;
        }
        if (s.loose) exitLoose(t, s, write, site);
        else if (write) exit(t, s, LOCK, site);
        else exitShared(t, s, site);
    }

    /**
     * A conversion begins, to the given mode (STAMPED_NONE: it is given up). What it gives up is given up
     * here: others may have it before the conversion returns.
     */
    static void stampConverting(PhotofinishThread t, Object lock, int mode, int site) {
        PhotofinishShadow s = lockOf(t, lock, site);
        t.givenUp = -1;
        if (PhotofinishNative.BUDGET || s.loose) {
            exitLoose(t, s, true, site);
        } else if (mode != STAMPED_WRITE && s.holder == t) {
            exit(t, s, LOCK, site);
            t.givenUp = LOCK;
        } else if (mode == STAMPED_NONE && indexOf(t, s, SHARED) >= 0) {
            exitShared(t, s, site);
            t.givenUp = SHARED;
        }
    }

    /** It returned; if it failed, the lock is held as it was. Nobody else can have had it meanwhile. */
    static void stampConverted(PhotofinishThread t, Object lock, boolean done, int mode, int site) {
        PhotofinishShadow s = lockOf(t, lock, site);
        int givenUp = t.givenUp;
        t.givenUp = -1;
        if (PhotofinishNative.BUDGET || s.loose) {
            if (done && mode != STAMPED_NONE) enterLoose(t, s, mode == STAMPED_WRITE, site);
        } else if (!done) {
            if (givenUp == LOCK) enter(t, s, LOCK, site);
            if (givenUp == SHARED) enterShared(t, s, site);
        } else if (mode == STAMPED_WRITE && s.holder != t) {
            // From reading: nobody else reads, and nobody else could begin to write.
            if (indexOf(t, s, SHARED) >= 0) exitShared(t, s, site);
            enter(t, s, LOCK, site);
        } else if (mode == STAMPED_READ && indexOf(t, s, SHARED) < 0) {
            enterShared(t, s, site);
        }
    }

    private static void enterLoose(PhotofinishThread t, PhotofinishShadow s, boolean write, int site) {
        forget(t, s, site);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_SYNC_ACQUIRE, site, PhotofinishEvents.shadowId(s));
            return;
        }
        int[] c = s.clock;
        if (c != null) PhotofinishClocks.acquire(t, c);
        c = write ? s.sharedClock : null;
        if (c != null) PhotofinishClocks.acquire(t, c);
        c = PhotofinishNative.BUDGET ? PhotofinishTable.NONE.clock : null; // of locks that nobody knows
        if (c != null) PhotofinishClocks.acquire(t, c);
    }

    private static void exitLoose(PhotofinishThread t, PhotofinishShadow s, boolean write, int site) {
        forget(t, s, site);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_SYNC_RELEASE, site, PhotofinishEvents.shadowId(s));
            return;
        }
        synchronized (s) {
            if (write) s.clock = PhotofinishClocks.releaseInto(t, s.clock);
            else s.sharedClock = PhotofinishClocks.releaseInto(t, s.sharedClock);
        }
    }

    /** What is left from the time when this lock's holders were known. */
    private static void forget(PhotofinishThread t, PhotofinishShadow s, int site) {
        for (byte kind = LOCK; kind <= SHARED; kind++) {
            boolean held = false;
            while (indexOf(t, s, kind) >= 0) {
                pop(t, s, kind);
                held = true;
            }
            if (!held || !PhotofinishNative.EVENTS) continue;
            int event = kind == LOCK ? EVENT_RELEASE : EVENT_RELEASE_SHARED;
            PhotofinishEvents.sync(t, event, site, PhotofinishEvents.shadowId(s));
        }
    }

    /** wait and await give the lock up, however often it was taken. */
    static void waitBegin(PhotofinishThread t, PhotofinishShadow s, int site) {
        if (s.holder != t && !PhotofinishNative.BUDGET) s = PhotofinishTable.NONE; // the JVM throws
        int n = t.waitCount++;
        if (n == t.waits.length) t.growWaits();
        t.waits[n] = s;
        // Others take the lock meanwhile, and leave word of their own.
        t.waitHolds[n] = s.stepped ? -s.holds : s.holds;
        if (s == PhotofinishTable.NONE) return;
        if (PhotofinishNative.BUDGET) {
            if (!PhotofinishSampling.rests(t)) exitLoose(t, s, true, site);
            return;
        }
        s.holds = 0;
        s.holder = null;
        releasing(t, s, site, EVENT_WAIT_BEGIN);
        if (s.contended) PhotofinishControl.released(s);
    }

    static void waitEnd(PhotofinishThread t, int site) {
        if (t.waitCount == 0) return;
        PhotofinishShadow s = t.waits[--t.waitCount];
        t.waits[t.waitCount] = null;
        if (s == PhotofinishTable.NONE) return;
        if (PhotofinishNative.BUDGET) {
            if (!PhotofinishSampling.rests(t)) enterLoose(t, s, true, site);
            return;
        }
        s.holder = t;
        int holds = t.waitHolds[t.waitCount];
        s.stepped = holds < 0;
        s.holds = Math.abs(holds);
        acquired(t, s, site, EVENT_WAIT_END);
        if (s.keeps) PhotofinishEvents.kept(t, s, false, site);
    }

    static void syncRelease(PhotofinishThread t, Object o, int site) {
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_SYNC_RELEASE, site, PhotofinishEvents.shadowId(s));
        } else {
            synchronized (s) {
                s.syncClock = PhotofinishClocks.releaseInto(t, s.syncClock);
            }
        }
    }

    /** Of a thread that ends and has no further epoch: who acquires the object knows all that it did. */
    static void lastRelease(PhotofinishThread t, Object o) {
        PhotofinishShadow s = PhotofinishTable.near(t, o, 0);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_SYNC_RELEASE, 0, PhotofinishEvents.shadowId(s));
        } else {
            synchronized (s) {
                s.syncClock = PhotofinishClocks.joined(t, s.syncClock);
            }
        }
    }

    static void syncAcquire(PhotofinishThread t, Object o, int site) {
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.sync(t, EVENT_SYNC_ACQUIRE, site, PhotofinishEvents.shadowId(s));
        } else {
            int[] c = s.syncClock;
            if (c != null) PhotofinishClocks.acquire(t, c);
        }
    }

    static void initBegin(PhotofinishThread t, int site) {
        t.linking++;
        if (PhotofinishLoader.current != null) PhotofinishStatics.initialising(t, site, false);
        if (PhotofinishNative.BARE) return;
        if (PhotofinishNative.EVENTS) {
            init(t, EVENT_INIT_BEGIN, site);
        } else {
            PhotofinishClocks.tick(t);
            PhotofinishNative.initBegin(t.clock, t.epoch);
        }
    }

    static void initEnd(PhotofinishThread t, int site) {
        if (PhotofinishLoader.current != null) PhotofinishStatics.initialising(t, site, true);
        if (t.linking > 0) t.linking--;
        if (PhotofinishNative.BARE) return;
        if (PhotofinishNative.EVENTS) {
            init(t, EVENT_INIT_END, site);
        } else {
            PhotofinishNative.initEnd(t.clock, t.epoch);
            PhotofinishClocks.tick(t);
        }
    }

    private static void init(PhotofinishThread t, int event, int site) {
        PhotofinishShadow c = PhotofinishNative.classOf(t, site);
        PhotofinishEvents.sync(t, event, site, PhotofinishEvents.shadowId(c));
        if (event == EVENT_INIT_END) {
            PhotofinishEvents.sync(t, EVENT_SYNC_RELEASE, site, PhotofinishEvents.shadowId(c));
        }
    }

    private static void push(PhotofinishThread t, PhotofinishShadow s, byte kind) {
        int n = t.heldCount;
        if (n == t.held.length) t.growHeld();
        t.held[n] = s;
        t.heldKinds[n] = kind;
        t.heldCount = n + 1;
    }

    private static void pop(PhotofinishThread t, PhotofinishShadow s, byte kind) {
        int i = indexOf(t, s, kind);
        if (i < 0) return;
        int last = --t.heldCount;
        for (int j = i; j < last; j++) {
            t.held[j] = t.held[j + 1];
            t.heldKinds[j] = t.heldKinds[j + 1];
        }
        t.held[last] = null;
    }

    /** How often a thread holds a lock in shared mode. */
    static int sharedHolds(PhotofinishThread t, PhotofinishShadow s) {
        int n = 0;
        for (int i = 0; i < t.heldCount; i++) {
            if (t.held[i] == s && t.heldKinds[i] == SHARED) n++;
        }
        return n;
    }

    private static int indexOf(PhotofinishThread t, PhotofinishShadow s, byte kind) {
        for (int i = t.heldCount - 1; i >= 0; i--) {
            if (t.held[i] == s && t.heldKinds[i] == kind) return i;
        }
        return -1;
    }

    /** An object as reports have it. */
    static String name(PhotofinishShadow s) {
        return s.name + (s.isClass ? ".class@" : "@") + Integer.toHexString(s.hash);
    }

    /** The held locks for a report, innermost last, one a line. */
    static String describe(PhotofinishThread t) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < t.heldCount; i++) {
            PhotofinishShadow s = t.held[i];
            if (s.loose || indexOf(t, s, t.heldKinds[i]) != i) continue; // the latter: taken again further in
            if (s.name == null) continue;
            if (b.length() > 0) b.append('\n');
            b.append(name(s));
            if (t.heldKinds[i] == MONITOR) b.append(" (monitor)");
            if (t.heldKinds[i] == SHARED) b.append(" (shared)");
        }
        return b.toString();
    }
}
