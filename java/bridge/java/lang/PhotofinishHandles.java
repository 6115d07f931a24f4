package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

import java.lang.invoke.VarHandle;
import jdk.internal.misc.Unsafe;

/**
 * Accesses that name memory by offset: Unsafe, field updaters, VarHandles, reflection (which goes
 * through Unsafe). Plain ones are checked like any other access; the rest order.
 */
final class PhotofinishHandles {
    private static final int ADDRESSES = 1 << 12;

    /** When a probe comes: before the access, or after one that did what it was to do, or did not. */
    static final int BEFORE = 0;

    static final int DONE = 1;
    static final int FAILED = 2;

    private static final long INTERRUPTED = PhotofinishNative.offset(Thread.class, "interrupted");

    /** What a compare-and-exchange saw, if it was not what it expected. */
    static final int OTHER_NUMBER = 1;

    static final int OTHER_REFERENCE = 2;

    /** Stands for all memory off the heap. */
    private static final Object OFF_HEAP = new Object();

    private PhotofinishHandles() {}

    static void forget(Object copy) {
        Class<?> c = copy.getClass();
        if (c.isArray()) return;
        Thread self = Thread.currentThread();
        PhotofinishLayout.of(self.$pf, c, System.identityHashCode(c)).clear(copy);
    }

    static void acquireInterrupt(PhotofinishThread t, Thread self) {
        if (INTERRUPTED > 0) raw(t, self, INTERRUPTED, ACCESS_READ | ACCESS_VOLATILE << ACCESS_MODE_SHIFT, 0, DONE);
    }

    static void releaseInterrupt(PhotofinishThread t, Thread other) {
        if (INTERRUPTED > 0) atomic(t, other, INTERRUPTED, ACCESS_WRITE, ACCESS_VOLATILE, 0, BEFORE);
    }

    /** Whether the compare-and-exchange has succeeded; of a number that was boxed for it another box says nothing. */
    static boolean exchanged(PhotofinishThread t, VarHandle vh, int site) {
        if (t.exchanged != OTHER_REFERENCE) return t.exchanged == 0;
        return vh != null && !PhotofinishHandle.of(t, vh, site).references;
    }

    static void varHandle(PhotofinishThread t, VarHandle vh, Object base, int index, int code, int site, int when) {
        if (vh == null) return;
        PhotofinishHandle h = PhotofinishHandle.of(t, vh, site);
        switch (h.kind) {
            case PhotofinishHandle.FIELD:
                raw(t, base, h.offset, code, site, when);
                break;
            case PhotofinishHandle.STATIC:
                raw(t, h.base(), h.offset, code, site, when);
                break;
            case PhotofinishHandle.ARRAY:
                raw(t, base, h.offset + ((long) index << h.shift), code, site, when);
                break;
            default:
                if (code >> ACCESS_MODE_SHIFT == ACCESS_PLAIN) return;
                raw(t, base == null ? vh : base, 1L << 40 | index, code, site, when);
        }
    }

    static void raw(PhotofinishThread t, Object o, long offset, int code, int site, int when) {
        int op = code & ACCESS_OP_MASK;
        int mode = code >> ACCESS_MODE_SHIFT;
        boolean before = when == BEFORE;
        if (o == null) {
            if (mode == ACCESS_PLAIN) return;
            // Addresses share clocks: more order than there is, never less, and a bounded number.
            o = OFF_HEAP;
            offset = offset >>> 3 & ADDRESSES - 1;
        }
        if (t.loading != 0 && PhotofinishNative.EVENTS) return;
        if (mode == ACCESS_PLAIN) {
            if (before == (op == ACCESS_WRITE || PhotofinishOrder.ON)) plain(t, o, offset, op == ACCESS_WRITE, site);
            return;
        }
        if (PhotofinishOrder.ON && before) ordered(t, o, offset, op, site);
        if (mode == ACCESS_OPAQUE) {
            // Coherent, ordering nothing, says the language. Inside the JDK opaque accesses come with
            // fences that we do not follow, so there they count as acquire and release.
            if (checked(site) && !PhotofinishNative.EVENTS) {
                if (before == (op != ACCESS_READ)) against(t, o, offset, op, site);
                return;
            }
        }
        if (before ? mode == ACCESS_ACQUIRE : mode == ACCESS_RELEASE && op != ACCESS_CAS) return;
        atomic(t, o, offset, op, mode, site, when);
    }

    /**
     * An atomic access conflicts with plain ones of the same memory. A compare-and-set may fail, so it
     * counts as a read here. Called while the current epoch still is that of the access.
     */
    private static void against(PhotofinishThread t, Object o, long offset, int op, int site) {
        if (!PhotofinishNative.EVENTS && checked(site)) {
            plain(t, o, offset, op != ACCESS_READ && op != ACCESS_CAS, site);
        }
    }

    /** Whether the site is the program's own, not one in classes that are trusted. */
    private static boolean checked(int site) {
        return U.getLong(PhotofinishNative.SITES + ((long) site << SITE_SHIFT)) == SITE_CHECKED;
    }

    private static void plain(PhotofinishThread t, Object o, long offset, boolean write, int site) {
        Class<?> c = o.getClass();
        if (c.isArray()) {
            long i = (offset - PhotofinishNative.base(c)) / U.arrayIndexScale(c);
            if (i < 0 || i >= PhotofinishTable.length(o)) return;
            if (PhotofinishNative.BUDGET && PhotofinishSampling.phase != PHASE_SAMPLE) {
                PhotofinishSampling.compareRange(t, o, (int) i, (int) i, 1, site, write);
                return;
            }
            if (PhotofinishNative.EVENTS) PhotofinishEvents.elem(t, o, (int) i, site, write);
            else if (write) PhotofinishFastTrack.writeElem(t, o, (int) i, site);
            else PhotofinishFastTrack.readElem(t, o, (int) i, site);
            return;
        }
        boolean statics = o instanceof Class;
        PhotofinishLayout l = statics ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, c, site);
        int row = l.row(offset);
        if (row < 0) return;
        if (l.clock(row) != 0) { // reflection on a volatile field
            if (PhotofinishOrder.ON) ordered(t, o, offset, write ? ACCESS_WRITE : ACCESS_READ, site);
            atomic(t, o, offset, write ? ACCESS_WRITE : ACCESS_READ, ACCESS_VOLATILE, site, write ? BEFORE : DONE);
        } else if (PhotofinishNative.EVENTS) {
            long id = PhotofinishEvents.id(t, o, l.read(row), site);
            PhotofinishEvents.access(t, write, site, id, (int) l.write(row));
        } else if (l.write(row) != 0) {
            Object base = statics ? null : o;
            if (PhotofinishNative.BUDGET && PhotofinishSampling.phase != PHASE_SAMPLE) {
                PhotofinishSampling.compare(t, base, l.write(row), l.read(row), site, write, o, INDEX_OFFSET - (int) offset);
                return;
            }
            if (write) PhotofinishFastTrack.writeMiss(t, base, l.write(row), l.read(row), site, o, INDEX_OFFSET - (int) offset);
            else PhotofinishFastTrack.readMiss(t, base, l.write(row), l.read(row), site, o, INDEX_OFFSET - (int) offset);
        }
    }

    private static void atomic(PhotofinishThread t, Object o, long offset, int op, int mode, int site, int when) {
        boolean before = when == BEFORE;
        if (PhotofinishNative.EVENTS) {
            // An update is told before the operation, and a read after it: a number taken on one side only
            // would be too late for those who see the value, or too early for whose value it saw.
            boolean learns = op != ACCESS_WRITE && mode != ACCESS_RELEASE;
            int event = !before ? EVENT_ATOMIC_READ : learns ? EVENT_ATOMIC_UPDATE : EVENT_ATOMIC_WRITE;
            if (op == (before ? ACCESS_READ : ACCESS_WRITE)) return;
            event(t, o, offset, mode, site, event, op == ACCESS_CAS, when);
            return;
        }
        if (!o.getClass().isArray()) {
            boolean statics = o instanceof Class;
            PhotofinishLayout l =
                    statics ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, o.getClass(), site);
            int row = l.row(offset);
            if (row >= 0 && l.clock(row) != 0) {
                Object base = statics ? null : o;
                if (before) {
                    PhotofinishClocks.volatileWrite(t, base, l.clock(row), op == ACCESS_CAS);
                    return;
                }
                if (op == ACCESS_CAS && mode != ACCESS_ACQUIRE) PhotofinishClocks.tried(t, base, l.clock(row), when == FAILED);
                if (mode != ACCESS_RELEASE) PhotofinishClocks.volatileRead(t, base, l.clock(row));
                return;
            }
        }
        // Not what is kept of a young array, which a collection may drop: order must not be lost.
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        PhotofinishOffsetClocks clocks = s.atomics;
        if (before && op != ACCESS_READ) {
            // An update sees what others wrote atomically, and comes after what they did before.
            int[] c = op == ACCESS_WRITE || mode == ACCESS_RELEASE || clocks == null ? null : clocks.get(offset);
            if (c != null) PhotofinishClocks.acquire(t, c);
            against(t, o, offset, op, site);
        }
        if (clocks == null) {
            synchronized (s) {
                clocks = s.atomics;
                if (clocks == null) {
                    clocks = new PhotofinishOffsetClocks();
                    U.storeFence();
                    s.atomics = clocks;
                }
            }
        }
        if (before) {
            clocks.release(t, offset, op == ACCESS_CAS);
            return;
        }
        if (op == ACCESS_CAS && mode != ACCESS_ACQUIRE) clocks.tried(t, offset, when == FAILED);
        if (mode != ACCESS_RELEASE) {
            int[] c = clocks.get(offset);
            if (c != null) PhotofinishClocks.acquire(t, c);
            if (op == ACCESS_READ) against(t, o, offset, op, site);
        }
    }

    /** Whose fields are where; null for an array. */
    private static PhotofinishLayout layout(PhotofinishThread t, Object o, int site) {
        Class<?> c = o.getClass();
        if (c.isArray()) return null;
        return o instanceof Class ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, c, site);
    }

    private static int slot(PhotofinishLayout l, Object o, long offset) {
        if (l == null) {
            Class<?> c = o.getClass();
            return (int) ((offset - PhotofinishNative.base(c)) / U.arrayIndexScale(c));
        }
        int row = l.row(offset);
        return row >= 0 ? (int) l.write(row) : 1 << 31 | (int) offset; // if nothing else tells the location apart
    }

    private static long id(PhotofinishThread t, PhotofinishLayout l, Object o, long offset, int site) {
        int row = l == null ? -1 : l.row(offset);
        long where = row < 0 ? 0 : l.read(row);
        return where > 0 ? PhotofinishEvents.fieldId(t, o, where) : PhotofinishEvents.shadowId(PhotofinishTable.near(t, o, site));
    }

    /** An access other than a plain one is about to be made. */
    private static void ordered(PhotofinishThread t, Object o, long offset, int op, int site) {
        PhotofinishLayout l = layout(t, o, site);
        int reads = op == ACCESS_WRITE ? 0 : PhotofinishOrder.READS;
        int writes = op == ACCESS_READ ? 0 : PhotofinishOrder.WRITES;
        int kind = reads | writes | PhotofinishOrder.ATOMIC;
        PhotofinishOrder.begin(t, id(t, l, o, offset, site), slot(l, o, offset), site, kind);
    }

    /** `tries` if it writes only on success. */
    private static void event(
            PhotofinishThread t, Object o, long offset, int mode, int site, int event, boolean tries, int when) {
        PhotofinishLayout l = layout(t, o, site);
        int slot = slot(l, o, offset);
        int strength = mode == ACCESS_VOLATILE
                ? EVENT_VOLATILE
                : mode == ACCESS_OPAQUE && checked(site) ? EVENT_OPAQUE : EVENT_ACQ_REL; // see raw
        long id = id(t, l, o, offset, site);
        if (!tries || mode == ACCESS_ACQUIRE) {
            PhotofinishEvents.atomic(t, event, strength, site, id, slot);
        } else if (when == BEFORE) {
            PhotofinishEvents.attempt(t, event, strength, site, id, slot);
        } else {
            // One that only releases learns nothing from what it sees.
            boolean learns = mode != ACCESS_RELEASE;
            if (when == FAILED) {
                PhotofinishEvents.failed(t, learns ? strength : EVENT_OPAQUE, site, id, slot);
            } else {
                PhotofinishEvents.succeeded(t, learns ? EVENT_ATOMIC_UPDATE : EVENT_ATOMIC_WRITE, strength, site, id, slot);
                if (learns) PhotofinishEvents.atomic(t, EVENT_ATOMIC_READ, strength, site, id, slot);
            }
        }
    }
}
