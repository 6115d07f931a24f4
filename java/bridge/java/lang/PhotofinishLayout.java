package java.lang;

import static java.lang.PhotofinishConstants.*;

import java.lang.ref.WeakReference;

/** Where the fields of a class have their shadows, for accesses that come with an offset only. */
final class PhotofinishLayout extends WeakReference<Class<?>> {
    static final PhotofinishLayout NONE = new PhotofinishLayout(null, new long[0]);

    /**
     * A row a field: offset, write shadow, read shadow, clock; 0 where there is none. For events: offset,
     * number, where the object keeps its own number, is it volatile. The first row is not a field: where
     * the object keeps its number, the site that allocated it, and what froze it.
     */
    private final long[] rows;

    PhotofinishLayout(Class<?> c, long[] rows) {
        super(c);
        this.rows = rows;
    }

    long allocationOffset() {
        return rows.length == 0 ? 0 : rows[LAYOUT_ALLOCATION];
    }

    int row(long offset) {
        for (int i = LAYOUT_ROW; i < rows.length; i += LAYOUT_ROW) {
            if (rows[i + LAYOUT_OFFSET] == offset) return i;
        }
        return -1;
    }

    long write(int row) {
        return rows[row + LAYOUT_WRITE];
    }

    long read(int row) {
        return rows[row + LAYOUT_READ];
    }

    long clock(int row) {
        return rows[row + LAYOUT_CLOCK];
    }

    /** Makes a fresh clone forget what was copied from its original. */
    void clear(Object o) {
        if (rows.length == 0) return;
        if (rows[LAYOUT_OBJECT_NUMBER] > 0) PhotofinishNative.U.putLong(o, rows[LAYOUT_OBJECT_NUMBER], 0);
        if (rows[LAYOUT_ALLOCATION] > 0) PhotofinishNative.U.putInt(o, rows[LAYOUT_ALLOCATION], 0);
        if (rows[LAYOUT_FREEZE] > 0) {
            if (PhotofinishNative.EVENTS) PhotofinishNative.U.putLong(o, rows[LAYOUT_FREEZE], 0);
            else PhotofinishNative.U.putReference(o, rows[LAYOUT_FREEZE], null);
        }
        for (int i = LAYOUT_ROW; i < rows.length; i += LAYOUT_ROW) {
            if (PhotofinishNative.EVENTS) {
                if (rows[i + LAYOUT_READ] > 0) PhotofinishNative.U.putLong(o, rows[i + LAYOUT_READ], 0);
                continue;
            }
            if (rows[i + LAYOUT_WRITE] > 0) PhotofinishNative.U.putLong(o, rows[i + LAYOUT_WRITE], 0);
            if (rows[i + LAYOUT_READ] > 0) PhotofinishNative.U.putLong(o, rows[i + LAYOUT_READ], 0);
            if (rows[i + LAYOUT_CLOCK] > 0) PhotofinishNative.U.putReference(o, rows[i + LAYOUT_CLOCK], null);
        }
    }

    static PhotofinishLayout of(PhotofinishThread t, Class<?> c, int site) {
        PhotofinishLayout l = t.layouts[site & t.layouts.length - 1];
        if (l != null && l.refersTo(c)) return l;
        PhotofinishShadow s = PhotofinishTable.find(c);
        l = s.layout;
        if (l == null) {
            long[] rows = rowsOf(t, c, false);
            if (rows == null) return NONE;
            l = new PhotofinishLayout(c, rows);
            s.layout = l;
        }
        t.layouts[site & t.layouts.length - 1] = l;
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
