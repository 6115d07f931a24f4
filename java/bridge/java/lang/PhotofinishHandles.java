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
    private static final long INTERRUPTED = PhotofinishNative.offset(Thread.class, "interrupted");

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
        if (o == null) return; // off the heap
        int op = code & 15;
        int mode = code >> 4;
        if (mode == PLAIN) {
            if (before == (op == WRITE)) plain(t, o, offset, op == WRITE, site);
            return;
        }
        if (mode == OPAQUE) {
            // Coherent, ordering nothing, says the language. Inside the JDK opaque accesses come with
            // fences that we do not follow, so there they count as acquire and release.
            boolean checked = U.getLong(PhotofinishNative.SITES + ((long) site << 5)) == 1;
            if (checked && !PhotofinishNative.EVENTS) {
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
        if (!PhotofinishNative.EVENTS && U.getLong(PhotofinishNative.SITES + ((long) site << 5)) == 1) {
            plain(t, o, offset, op != READ && op != CAS, site);
        }
    }

    private static void plain(PhotofinishThread t, Object o, long offset, boolean write, int site) {
        Class<?> c = o.getClass();
        if (c.isArray()) {
            long i = (offset - U.arrayBaseOffset(c)) / U.arrayIndexScale(c);
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
            PhotofinishEvents.access(t, write, site, id(t, o, site), (int) l.write(row));
        } else if (l.write(row) != 0) {
            Object base = statics ? null : o;
            if (write) PhotofinishFastTrack.writeMiss(t, base, l.write(row), l.read(row), site, o, -2 - (int) offset);
            else PhotofinishFastTrack.readMiss(t, base, l.write(row), l.read(row), site, o, -2 - (int) offset);
        }
    }

    private static void atomic(PhotofinishThread t, Object o, long offset, int op, int mode, int site, boolean before) {
        if (PhotofinishNative.EVENTS) {
            // One event an operation: before it if it writes, else after it.
            if (before != (op != READ)) return;
            int slot = slot(t, o, offset, site);
            PhotofinishEvents.atomic(t, op, mode == OPAQUE ? 0 : mode == VOLATILE ? 2 : 1, site, id(t, o, site), slot);
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
        PhotofinishArray s = PhotofinishTable.any(t, o, site);
        if (before && op != READ) against(t, o, offset, op, site);
        PhotofinishOffsetClocks clocks = s.atomics;
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

    /** Slot of a location in events: element index, number of the field, or what else tells it apart. */
    private static int slot(PhotofinishThread t, Object o, long offset, int site) {
        Class<?> c = o.getClass();
        if (c.isArray()) return (int) ((offset - U.arrayBaseOffset(c)) / U.arrayIndexScale(c));
        PhotofinishLayout l =
                o instanceof Class ? PhotofinishLayout.ofStatics(t, (Class<?>) o) : PhotofinishLayout.of(t, c, site);
        int row = l.row(offset);
        return row >= 0 ? (int) l.write(row) : 1 << 31 | (int) offset;
    }

    /** Number of an object: in the object if there is room, else in its shadow. */
    static long id(PhotofinishThread t, Object o, int site) {
        if (!o.getClass().isArray() && !(o instanceof Class)) {
            long off = PhotofinishLayout.of(t, o.getClass(), site).idOffset();
            if (off > 0) return PhotofinishEvents.fieldId(t, o, off);
        }
        return PhotofinishEvents.shadowId(PhotofinishTable.any(t, o, site));
    }
}
