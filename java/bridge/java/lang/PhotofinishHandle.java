package java.lang;

import static java.lang.PhotofinishNative.U;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/** Which memory a VarHandle stands for, read from its implementation once. */
final class PhotofinishHandle extends WeakReference<VarHandle> {
    static final int FIELD = 0;
    static final int STATIC = 1;
    static final int ARRAY = 2;

    /** A view of bytes, an adapter, memory off the heap: known by the handle's first coordinate only. */
    static final int OTHER = 3;

    final int kind;
    final long offset;
    final int shift;

    /** Whether the memory holds references, and not numbers that may have been boxed on their way. */
    final boolean references;

    private final WeakReference<Object> base;

    private PhotofinishHandle(VarHandle vh, int kind, long offset, int shift, Object base) {
        super(vh);
        this.references = direct(vh).getClass().getName().startsWith("java.lang.invoke.VarHandleReferences$");
        this.kind = kind;
        this.offset = offset;
        this.shift = shift;
        this.base = new WeakReference<>(base);
    }

    Object base() {
        return base.get();
    }

    static PhotofinishHandle of(PhotofinishThread t, VarHandle vh, int site) {
        PhotofinishHandle h = t.handles[site & t.handles.length - 1];
        if (h != null && h.refersTo(vh)) return h;
        h = make(vh);
        t.handles[site & t.handles.length - 1] = h;
        return h;
    }

    private static PhotofinishHandle make(VarHandle handle) {
        VarHandle vh = direct(handle);
        Class<?> c = vh.getClass();
        long field = declared(c, "fieldOffset");
        if (field > 0) {
            long offset = U.getLong(vh, field);
            long base = declared(c, "base");
            if (base > 0) return new PhotofinishHandle(handle, STATIC, offset, 0, U.getReference(vh, base));
            return new PhotofinishHandle(handle, FIELD, offset, 0, null);
        }
        long abase = declared(c, "abase");
        long ashift = declared(c, "ashift");
        if (abase > 0 && ashift > 0) {
            return new PhotofinishHandle(handle, ARRAY, U.getInt(vh, abase), U.getInt(vh, ashift), null);
        }
        return new PhotofinishHandle(handle, OTHER, 0, 0, null);
    }

    /** In JDK 22 and later one of a class that is not initialised yet stands before the handle itself. */
    private static VarHandle direct(VarHandle vh) {
        Class<?> c = vh.getClass();
        long target = c.getName().equals("java.lang.invoke.LazyInitializingVarHandle") ? declared(c, "target") : 0;
        return target > 0 ? (VarHandle) U.getReference(vh, target) : vh;
    }

    private static long declared(Class<?> c, String name) {
        for (; c != null && c != VarHandle.class; c = c.getSuperclass()) {
            long offset = PhotofinishNative.offset(c, name);
            if (offset > 0) return offset;
        }
        return 0;
    }
}
