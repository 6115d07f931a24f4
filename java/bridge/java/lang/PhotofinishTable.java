package java.lang;

/**
 * From an object to its shadow, by identity, weakly.
 *
 * <p>Look-ups take no lock; a chain is only changed under its stripe's monitor, and a reader that
 * misses because of a concurrent change looks again under the monitor. Shadows of dead objects are
 * dropped when their stripe is full, so a program that makes millions of short-lived arrays keeps a
 * bounded number of them.
 */
final class PhotofinishTable {
    static final PhotofinishShadow NONE = new PhotofinishShadow(null, 0);

    /** Stands for all explicit fences. */
    static final Object FENCE = new Object();

    /**
     * Stands for all objects with a finaliser, between the end of their constructors and the
     * finaliser: by then a weak reference to the object itself, such as its shadow, is cleared.
     */
    static final Object FINALIZABLE = new Object();

    private static final int STRIPES = 64;
    private static final Stripe[] TABLE = new Stripe[STRIPES];

    static {
        NONE.cells = new long[0];
        for (int i = 0; i < STRIPES; i++) TABLE[i] = new Stripe();
    }

    private static final class Stripe {
        volatile PhotofinishShadow[] buckets = new PhotofinishShadow[64];
        int size;
    }

    private PhotofinishTable() {}

    /** The shadow of `o`, remembered under `site` for the next time. */
    static PhotofinishShadow near(PhotofinishThread t, Object o, int site) {
        PhotofinishShadow s = t.near[site & PhotofinishThread.NEAR - 1];
        return s.refersTo(o) ? s : far(t, o, site);
    }

    static PhotofinishShadow far(PhotofinishThread t, Object o, int site) {
        if (o == null) return NONE;
        PhotofinishShadow s = find(t, o);
        t.near[site & PhotofinishThread.NEAR - 1] = s;
        return s;
    }

    /** For an object that is no array, without a thread to remember it for. */
    static PhotofinishShadow find(Object o) {
        return find(null, o);
    }

    private static PhotofinishShadow find(PhotofinishThread t, Object o) {
        int h = System.identityHashCode(o);
        Stripe stripe = TABLE[h & STRIPES - 1];
        PhotofinishShadow[] b = stripe.buckets;
        for (PhotofinishShadow s = b[h >>> 6 & b.length - 1]; s != null; s = s.next) {
            if (s.refersTo(o)) return s;
        }
        synchronized (stripe) {
            b = stripe.buckets;
            for (PhotofinishShadow s = b[h >>> 6 & b.length - 1]; s != null; s = s.next) {
                if (s.refersTo(o)) return s;
            }
            if (stripe.size >= b.length) {
                sweep(stripe);
                b = stripe.buckets;
            }
            PhotofinishShadow s = new PhotofinishShadow(o, h);
            if (o.getClass().isArray()) {
                if (t != null) s.allocationSite = t.allocationSite(o);
                if (!PhotofinishNative.EVENTS) s.cells = cells(o);
            }
            int i = h >>> 6 & b.length - 1;
            s.next = b[i];
            PhotofinishNative.U.storeFence(); // readers must not see a half-made shadow
            b[i] = s;
            stripe.size++;
            return s;
        }
    }

    /** Drops dead shadows; doubles the stripe if most are alive. */
    private static void sweep(Stripe stripe) {
        PhotofinishShadow[] old = stripe.buckets;
        int live = 0;
        for (PhotofinishShadow head : old) {
            for (PhotofinishShadow s = head; s != null; s = s.next) {
                if (!s.refersTo(null)) live++;
            }
        }
        PhotofinishShadow[] b = new PhotofinishShadow[live > old.length / 2 ? old.length * 2 : old.length];
        for (PhotofinishShadow head : old) {
            for (PhotofinishShadow s = head; s != null; ) {
                PhotofinishShadow next = s.next;
                if (!s.refersTo(null)) {
                    int i = s.hash >>> 6 & b.length - 1;
                    s.next = b[i];
                    b[i] = s;
                }
                s = next;
            }
        }
        stripe.size = live;
        stripe.buckets = b;
    }

    private static long[] cells(Object array) {
        int n = length(array);
        if (n > Integer.MAX_VALUE / 2 - 8) {
            PhotofinishNative.tooLarge(n);
            return NONE.cells;
        }
        return new long[2 * n];
    }

    static int length(Object array) {
        if (array instanceof Object[]) return ((Object[]) array).length;
        if (array instanceof int[]) return ((int[]) array).length;
        if (array instanceof byte[]) return ((byte[]) array).length;
        if (array instanceof char[]) return ((char[]) array).length;
        if (array instanceof double[]) return ((double[]) array).length;
        if (array instanceof long[]) return ((long[]) array).length;
        if (array instanceof float[]) return ((float[]) array).length;
        if (array instanceof boolean[]) return ((boolean[]) array).length;
        if (array instanceof short[]) return ((short[]) array).length;
        return 0;
    }
}
