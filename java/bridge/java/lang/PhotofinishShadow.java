package java.lang;

import java.lang.ref.WeakReference;

/**
 * What we know of an object that has no room for it: arrays, and objects used as locks. Found
 * through {@link PhotofinishTable}; does not keep the object alive.
 */
final class PhotofinishShadow extends WeakReference<Object> {
    final int hash;
    PhotofinishShadow next;

    /** Number of the object in the run; given when first asked for. */
    long id;

    /** FastTrack state of an array's elements: write and read stamp alternating. */
    long[] cells;

    /** What the last release of this lock knew. */
    int[] clock;

    /** What readers of a read-write lock knew when they released it. */
    int[] sharedClock;

    /** What was released through this object otherwise: task hand-over, constructor to finaliser. */
    int[] syncClock;

    /** Clocks of elements and plain fields that are accessed atomically, by offset. */
    PhotofinishOffsetClocks atomics;

    /** If the object is a class: where its fields have their shadows. */
    PhotofinishLayout layout;

    PhotofinishLayout staticLayout;

    /** Only the thread that holds the lock writes these. */
    PhotofinishThread holder;

    int holds;

    int allocationSite;

    PhotofinishShadow(Object o, int hash) {
        super(o);
        this.hash = hash;
    }
}
