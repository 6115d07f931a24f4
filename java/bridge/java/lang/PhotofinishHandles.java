package java.lang;

import static java.lang.PhotofinishNative.U;

import java.lang.invoke.VarHandle;
import jdk.internal.misc.Unsafe;

/**
 * Accesses that name memory by offset: Unsafe, field updaters, VarHandles, reflection (which goes
 * through Unsafe). Plain ones are checked like any other access; the rest order.
 */
final class PhotofinishHandles {
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int CAS = 3;
    private static final int PLAIN = 0;
    private static final int OPAQUE = 1;
    private static final int ACQUIRE = 2;
    private static final int RELEASE = 3;
    private static final int VOLATILE = 4;
    private static final int ADDRESSES = 1 << 12;
    private static final long INTERRUPTED = PhotofinishNative.offset(Thread.class, "interrupted");

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
        if (INTERRUPTED > 0) raw(t, self, INTERRUPTED, READ | VOLATILE << 4, 0, false);
    }

    static void varHandle(PhotofinishThread t, VarHandle vh, Object base, int index, int code, int site, boolean before) {
        if (vh == null) return;
        PhotofinishHandle h = PhotofinishHandle.of(t, vh, site);
        switch (h.kind) {
            case PhotofinishHandle.FIELD:
                raw(t, base, h.offset, code, site, before);
                break;
            case PhotofinishHandle.STATIC:
                raw(t, h.base(), h.offset, code, site, before);
                break;
            case PhotofinishHandle.ARRAY:
                raw(t, base, h.offset + ((long) index << h.shift), code, site, before);
                break;
            default:
                if (code >> 4 != PLAIN) raw(t, base == null ? vh : base, 1L << 40 | index, code, site, before);
        }
    }

    static void raw(PhotofinishThread t, Object o, long offset, int code, int site, boolean before) {
        int op = code & 15;
        int mode = code >> 4;
        if (o == null) {
            if (mode == PLAIN) return;
            // Addresses share clocks: more order than there is, never less, and a bounded number.
            o = OFF_HEAP;
            offset = offset >>> 3 & ADDRESSES - 1;
        }
        if (mode == PLAIN) {
            if (before == (op == WRITE)) plain(t, o, offset, op == WRITE, site);
            return;
        }
        if (mode == OPAQUE) {
            // Coherent, ordering nothing, says the language. Inside the JDK opaque accesses come with
            // fences that we do not follow, so there they count as acquire and release.
            if (checked(site) && !PhotofinishNative.EVENTS) {
                if (before == (op != READ)) against(t, o, offset, op, site);
                return;
            }
        }
        if (before ? mode == ACQUIRE : mode == RELEASE) return;
        atomic(t, o, offset, op, mode, site, before);
    }

    /**
     * An atomic access conflicts with plain ones of the same memory. A compare-and-set may fail, so it
     * counts as a read here. Called while the current epoch still is that of the access.
     */
    private static void against(PhotofinishThread t, Object o, long offset, int op, int site) {
        if (!PhotofinishNative.EVENTS && checked(site)) {
            plain(t, o, offset, op != READ && op != CAS, site);
        }
    }

    /** Whether the site is the program's own, not one in classes that are trusted. */
    private static boolean checked(int site) {
        return U.getLong(PhotofinishNative.SITES + ((long) site << 5)) == 1;
    }

    private static void plain(PhotofinishThread t, Object o, long offset, boolean write, int site) {
        Class<?> c = o.getClass();
        if (c.isArray()) {
            long i = (offset - PhotofinishNative.base(c)) / U.arrayIndexScale(c);
            if (i < 0 || i >= PhotofinishTable.length(o)) return;
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
            atomic(t, o, offset, write ? WRITE : READ, VOLATILE, site, write);
        } else if (PhotofinishNative.EVENTS) {
            long id = PhotofinishEvents.id(t, o, l.read(row), site);
            PhotofinishEvents.access(t, write, site, id, (int) l.write(row));
        } else if (l.write(row) != 0) {
            Object base = statics ? null : o;
            if (write) PhotofinishFastTrack.writeMiss(t, base, l.write(row), l.read(row), site, o, -2 - (int) offset);
            else PhotofinishFastTrack.readMiss(t, base, l.write(row), l.read(row), site, o, -2 - (int) offset);
        }
    }

    private static void atomic(PhotofinishThread t, Object o, long offset, int op, int mode, int site, boolean before) {
        if (PhotofinishNative.EVENTS) {
            // An update is told before the operation, and a read after it: a number taken on one side only
            // would be too late for those who see the value, or too early for whose value it saw.
            int kind = !before ? 0 : op == WRITE || mode == RELEASE ? 1 : 2;
            if (before ? op != READ : op != WRITE) event(t, o, offset, mode, site, kind);
            return;
        }
        if (!o.getClass().isArray()) {
            boolean statics = o instanceof Class;
            PhotofinishLayout l =
                    statics ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, o.getClass(), site);
            int row = l.row(offset);
            if (row >= 0 && l.clock(row) != 0) {
                Object base = statics ? null : o;
                if (before) PhotofinishClocks.volatileWrite(t, base, l.clock(row));
                else PhotofinishClocks.volatileRead(t, base, l.clock(row));
                return;
            }
        }
        // Not what is kept of a young array, which a collection may drop: order must not be lost.
        PhotofinishShadow s = PhotofinishTable.near(t, o, site);
        PhotofinishOffsetClocks clocks = s.atomics;
        if (before && op != READ) {
            // An update sees what others wrote atomically, and comes after what they did before.
            int[] c = op == WRITE || mode == RELEASE || clocks == null ? null : clocks.get(offset);
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
            clocks.release(t, offset);
        } else {
            int[] c = clocks.get(offset);
            if (c != null) PhotofinishClocks.acquire(t, c);
            if (op == READ) against(t, o, offset, op, site);
        }
    }

    /** kind: 0 read, 1 write, 2 both. */
    private static void event(PhotofinishThread t, Object o, long offset, int mode, int site, int kind) {
        Class<?> c = o.getClass();
        long where = 0;
        int slot = 1 << 31 | (int) offset; // if nothing else tells the location apart
        if (c.isArray()) {
            slot = (int) ((offset - PhotofinishNative.base(c)) / U.arrayIndexScale(c));
        } else {
            PhotofinishLayout l =
                    o instanceof Class ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, c, site);
            int row = l.row(offset);
            if (row >= 0) {
                slot = (int) l.write(row);
                where = l.read(row);
            }
        }
        int strength = mode == VOLATILE ? 2 : mode == OPAQUE && checked(site) ? 0 : 1; // see raw
        long id = where > 0 ? PhotofinishEvents.fieldId(t, o, where) : PhotofinishEvents.shadowId(PhotofinishTable.near(t, o, site));
        PhotofinishEvents.atomic(t, kind, strength, site, id, slot);
    }
}
