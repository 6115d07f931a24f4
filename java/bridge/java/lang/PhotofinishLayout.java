package java.lang;

import java.lang.ref.WeakReference;

/** Where the fields of a class have their shadows, for accesses that come with an offset only. */
final class PhotofinishLayout extends WeakReference<Class<?>> {
    static final PhotofinishLayout NONE = new PhotofinishLayout(null, new long[0]);

    /**
     * A row a field: offset, write shadow, read shadow, clock; 0 where there is none. For events:
     * offset, number, where the object keeps its own number, is it volatile.
     */
    private static final int ROW = 4;

    private final long[] rows;

    PhotofinishLayout(Class<?> c, long[] rows) {
        super(c);
        this.rows = rows;
    }

    /** The first row is not a field: offset of the object's number, of its allocation site, of its freeze. */
    long allocationOffset() {
        return rows.length == 0 ? 0 : rows[1];
    }

    int row(long offset) {
        for (int i = ROW; i < rows.length; i += ROW) {
            if (rows[i] == offset) return i;
        }
        return -1;
    }

    long write(int row) {
        return rows[row + 1];
    }

    long read(int row) {
        return rows[row + 2];
    }

    long clock(int row) {
        return rows[row + 3];
    }

    /** Makes a fresh clone forget what was copied from its original. */
    void clear(Object o) {
        if (rows.length == 0) return;
        if (rows[0] > 0) PhotofinishNative.U.putLong(o, rows[0], 0);
        if (rows[1] > 0) PhotofinishNative.U.putInt(o, rows[1], 0);
        if (rows[2] > 0) {
            if (PhotofinishNative.EVENTS) PhotofinishNative.U.putLong(o, rows[2], 0);
            else PhotofinishNative.U.putReference(o, rows[2], null);
        }
        for (int i = ROW; i < rows.length; i += ROW) {
            if (PhotofinishNative.EVENTS) {
                if (rows[i + 2] > 0) PhotofinishNative.U.putLong(o, rows[i + 2], 0);
                continue;
            }
            if (rows[i + 1] > 0) PhotofinishNative.U.putLong(o, rows[i + 1], 0);
            if (rows[i + 2] > 0) PhotofinishNative.U.putLong(o, rows[i + 2], 0);
            if (rows[i + 3] > 0) PhotofinishNative.U.putReference(o, rows[i + 3], null);
        }
    }

    static PhotofinishLayout of(PhotofinishThread t, Class<?> c, int site) {
        PhotofinishLayout l = t.layouts[site & 63];
        if (l != null && l.refersTo(c)) return l;
        PhotofinishShadow s = PhotofinishTable.find(c);
        l = s.layout;
        if (l == null) {
            long[] rows = rowsOf(t, c, false);
            if (rows == null) return NONE;
            l = new PhotofinishLayout(c, rows);
            s.layout = l;
        }
        t.layouts[site & 63] = l;
        return l;
    }

    static PhotofinishLayout ofStatics(PhotofinishThread t, Class<?> c) {
        PhotofinishShadow s = PhotofinishTable.find(c);
        PhotofinishLayout l = s.staticLayout;
        if (l == null) {
            long[] rows = rowsOf(t, c, true);
            if (rows == null) return NONE;
            l = new PhotofinishLayout(c, rows);
            s.staticLayout = l;
        }
        return l;
    }

    /** Null if stack or heap ran out: then to be asked again. */
    private static long[] rowsOf(PhotofinishThread t, Class<?> c, boolean statics) {
        Thread self = Thread.currentThread();
        self.$pf = null; // the agent runs Java code
        try {
            return statics ? PhotofinishNative.staticLayout(c) : PhotofinishNative.layout(c);
        } finally {
            self.$pf = t;
        }
    }
}
