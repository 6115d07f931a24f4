package java.lang;

import java.lang.ref.WeakReference;
import jdk.internal.vm.annotation.DontInline;

/**
 * From an object to what we know of it, by identity, weakly.
 *
 * <p>Look-ups take no lock; a chain is only changed under its stripe's monitor, and a reader that
 * misses because of a concurrent change looks again under the monitor. Entries of dead objects are
 * dropped the next time that their stripe grows after a garbage collection.
 *
 * <p>Most arrays are small and die young, used by the thread that made them and by nobody else. If
 * the table kept their entries alive, every collection would copy them, at many times the cost of
 * the arrays. So entries of small arrays start in a part of the table that is itself held weakly, and
 * bounded: a collection drops it as a whole, except for what another thread has used by then or the thread has
 * at hand in its caches. What is lost is the memory of accesses before the collection to arrays
 * that one thread only had used: a race with one of them may be missed, none can be invented.
 */
final class PhotofinishTable {
    /** Stands for no object. */
    static final PhotofinishShadow NONE = new PhotofinishShadow(null, 0);

    /** Stands for all explicit fences. */
    static final Object FENCE = new Object();

    /**
     * In events, stands for all objects with a finaliser, between the end of their constructors and
     * the finaliser: by then a weak reference to the object itself, such as its shadow, is cleared.
     */
    static final Object FINALIZABLE = new Object();

    private static final int STRIPES = 64;
    private static final Stripe[] TABLE = new Stripe[STRIPES];

    /** Cleared by the next collection, which is how we learn of it. */
    private static volatile WeakReference<Object> canary = new WeakReference<>(new Object());

    private static volatile int collections;
    private static boolean saidFull;

    static {
        NONE.cells = new long[0];
        for (int i = 0; i < STRIPES; i++) TABLE[i] = new Stripe();
    }

    /** Longer arrays are worth an entry of their own from the start. */
    private static final int SMALL = 32;

    /** Entries of a stripe's young part: many more would not stay in the processor's cache. */
    private static final int YOUNG = 128;

    private static final class Stripe {
        volatile PhotofinishArray[] buckets = new PhotofinishArray[64];
        int size;
        int sweptAt;
        volatile WeakReference<Young> young = new WeakReference<>(null);
    }

    private static final class Young {
        final PhotofinishArray[] buckets = new PhotofinishArray[2 * YOUNG];
        int size;
    }

    private PhotofinishTable() {}

    /** The shadow of an object used as a lock, remembered under `site` for the next time. */
    static PhotofinishShadow near(PhotofinishThread t, Object o, int site) {
        if (o == null) return NONE;
        PhotofinishShadow s = t.near[site & t.near.length - 1];
        if (s.refersTo(o)) return s;
        s = find(o);
        t.near[site & t.near.length - 1] = s;
        return s;
    }

    /** What we know of any object but null. */
    static PhotofinishArray any(PhotofinishThread t, Object o, int site) {
        PhotofinishArray s = t.arrays[site & t.arrays.length - 1];
        return s.refersTo(o) ? s : far(t, o, site);
    }

    /** The same, not remembered under `site` yet. */
    @DontInline
    static PhotofinishArray far(PhotofinishThread t, Object o, int site) {
        if (t.collections != collections) t.forgetDead(collections);
        int h = System.identityHashCode(o);
        PhotofinishArray s = t.byHash[h & t.byHash.length - 1];
        if (!s.refersTo(o)) {
            s = find(t, o, h);
            t.byHash[h & t.byHash.length - 1] = s;
        }
        t.arrays[site & t.arrays.length - 1] = s;
        return s;
    }

    /** What is known of an array that has been recorded; null if nothing is, or it is just becoming known. */
    static PhotofinishArray known(PhotofinishThread t, Object array, int site) {
        PhotofinishArray s = t.arrays[site & t.arrays.length - 1];
        if (s.refersTo(array)) return s;
        if (t.collections != collections) t.forgetDead(collections);
        int h = System.identityHashCode(array);
        s = t.byHash[h & t.byHash.length - 1];
        if (!s.refersTo(array)) {
            s = lookUp(TABLE[h & STRIPES - 1], t, array, h);
            if (s == null) return null;
            t.byHash[h & t.byHash.length - 1] = s;
        }
        t.arrays[site & t.arrays.length - 1] = s;
        return s;
    }

    /** The shadow of an object, without a thread to remember it for. */
    static PhotofinishShadow find(Object o) {
        int h = System.identityHashCode(o);
        PhotofinishArray s = find(null, o, h);
        return s instanceof PhotofinishShadow ? (PhotofinishShadow) s : upgrade(o, s);
    }

    private static PhotofinishArray find(PhotofinishThread t, Object o, int h) {
        Stripe stripe = TABLE[h & STRIPES - 1];
        PhotofinishArray s;
        // An array that this thread has just made is not there yet, most likely.
        int made = t == null ? 0 : t.allocationSite(o);
        if (made == 0) {
            s = lookUp(stripe, t, o, h);
            if (s != null) return s;
        }
        if (canary.refersTo(null)) collected();
        if (o.getClass().isArray()) {
            s = new PhotofinishArray(o, h);
            s.allocationSite = made;
            // A recording knows locations by the number that stands here.
            if (t != null && !PhotofinishOrder.ON && length(o) < SMALL) s.owner = t.id + 1;
            if (!PhotofinishNative.EVENTS && !PhotofinishNative.BARE) {
                int words = PhotofinishBlocks.words(length(o));
                long[] blocks = words > 0 ? longs(words, length(o)) : NONE.cells;
                if (blocks.length > 0) s.blocks = blocks;
                s.cells = words > 0 ? NONE.cells : cells(o);
            }
        } else {
            s = new PhotofinishShadow(o, h);
        }
        synchronized (stripe) {
            PhotofinishArray other = lookUp(stripe, t, o, h);
            if (other != null) return other;
            if (s.owner != 0) linkYoung(stripe, s);
            else link(stripe, s);
        }
        return s;
    }

    private static PhotofinishArray lookUp(Stripe stripe, PhotofinishThread t, Object o, int h) {
        PhotofinishArray s = walk(stripe.buckets, o, h);
        if (s != null) return s;
        Young young = stripe.young.get();
        if (young == null) return null;
        s = walk(young.buckets, o, h);
        if (s != null && (t == null || s.owner != t.id + 1)) keep(s);
        return s;
    }

    /** Moves a young entry to where it stays as long as its array does. */
    static void keep(PhotofinishArray s) {
        Stripe stripe = TABLE[s.hash & STRIPES - 1];
        synchronized (stripe) {
            if (s.owner == 0) return;
            s.owner = 0;
            Young young = stripe.young.get();
            if (young != null) {
                int i = s.hash >>> 6 & young.buckets.length - 1;
                if (young.buckets[i] == s) {
                    young.buckets[i] = s.next;
                } else {
                    PhotofinishArray before = young.buckets[i];
                    while (before != null && before.next != s) before = before.next;
                    if (before != null) before.next = s.next;
                }
            }
            link(stripe, s);
        }
    }

    private static PhotofinishArray walk(PhotofinishArray[] b, Object o, int h) {
        for (PhotofinishArray s = b[h >>> 6 & b.length - 1]; s != null; s = s.next) {
            if (s.refersTo(o)) return s;
        }
        return null;
    }

    private static void link(Stripe stripe, PhotofinishArray s) {
        if (stripe.sweptAt != collections || stripe.size >= stripe.buckets.length) sweep(stripe);
        push(stripe.buckets, s);
        stripe.size++;
    }

    private static void linkYoung(Stripe stripe, PhotofinishArray s) {
        Young young = stripe.young.get();
        if (young == null || young.size == YOUNG) { // full: the oldest young ones go early
            young = new Young();
            stripe.young = new WeakReference<>(young);
        }
        push(young.buckets, s);
        young.size++;
    }

    private static void push(PhotofinishArray[] buckets, PhotofinishArray s) {
        int i = s.hash >>> 6 & buckets.length - 1;
        s.next = buckets[i];
        PhotofinishNative.U.storeFence(); // readers must not see a half-made entry
        buckets[i] = s;
    }

    /** An array turns out to be a lock as well: both entries share what is known of the elements. */
    private static PhotofinishShadow upgrade(Object o, PhotofinishArray old) {
        Stripe stripe = TABLE[old.hash & STRIPES - 1];
        keep(old);
        if (old.blocks != null) PhotofinishBlocks.giveWords(old, o); // both use the same from now on
        if (PhotofinishNative.EVENTS) PhotofinishEvents.shadowId(old, o);
        synchronized (stripe) {
            // The order of a chain says nothing: there may be a shadow behind the entry that was found.
            for (PhotofinishArray e = stripe.buckets[old.hash >>> 6 & stripe.buckets.length - 1]; e != null; e = e.next) {
                if (e instanceof PhotofinishShadow && e.refersTo(o)) return (PhotofinishShadow) e;
            }
            PhotofinishShadow s = new PhotofinishShadow(o, old.hash);
            s.cells = old.cells;
            s.blocks = old.blocks;
            s.id = old.id;
            if (old.atomics == null) old.atomics = new PhotofinishOffsetClocks();
            s.atomics = old.atomics;
            s.allocationSite = old.allocationSite;
            link(stripe, s); // beside the old one, which goes when the array does
            return s;
        }
    }

    /** The shadow that points know by this number; null if there is none any more. */
    static PhotofinishShadow numbered(int number) {
        for (Stripe stripe : TABLE) {
            synchronized (stripe) {
                for (PhotofinishArray head : stripe.buckets) {
                    for (PhotofinishArray s = head; s != null; s = s.next) {
                        if (!(s instanceof PhotofinishShadow)) continue;
                        PhotofinishShadow shadow = (PhotofinishShadow) s;
                        if (shadow.number == number) return shadow;
                        if (shadow.lock != null && shadow.lock.number == number) return shadow.lock;
                    }
                }
            }
        }
        return null;
    }

    static int collections() {
        return collections;
    }

    private static synchronized void collected() {
        if (!canary.refersTo(null)) return;
        canary = new WeakReference<>(new Object());
        collections++;
    }

    /** Drops dead entries; doubles the stripe if most are alive. */
    private static void sweep(Stripe stripe) {
        PhotofinishArray[] old = stripe.buckets;
        int live = 0;
        for (PhotofinishArray head : old) {
            for (PhotofinishArray s = head; s != null; s = s.next) {
                if (!s.refersTo(null)) live++;
            }
        }
        PhotofinishArray[] b = new PhotofinishArray[live > old.length / 2 ? old.length * 2 : old.length];
        for (PhotofinishArray head : old) {
            for (PhotofinishArray s = head; s != null; ) {
                PhotofinishArray next = s.next;
                if (!s.refersTo(null)) push(b, s);
                s = next;
            }
        }
        stripe.size = live;
        stripe.sweptAt = collections;
        stripe.buckets = b;
    }

    /** The elements' state, or none if there is no room: then the array is not checked. */
    static long[] cells(Object array) {
        int n = length(array);
        if (n > Integer.MAX_VALUE / 2 - 8) {
            PhotofinishNative.tooLarge(n);
            return NONE.cells;
        }
        return longs(2 * n, n);
    }

    private static long[] longs(int count, int n) {
        try {
            return new long[count];
        } catch (OutOfMemoryError full) {
            for (Stripe stripe : TABLE) {
                synchronized (stripe) {
                    sweep(stripe);
                }
            }
        }
        try {
            return new long[count];
        } catch (OutOfMemoryError full) {
            if (!saidFull) PhotofinishNative.tooLarge(n);
            saidFull = true;
            return NONE.cells;
        }
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
