package java.lang;

import java.lang.ref.PhantomReference;

/**
 * What we know of an array, which has no room for it itself. Found through {@link
 * PhotofinishTable}; does not keep the array alive, but stays while its finaliser may run: a weak
 * reference would be cleared before. Programs make arrays by the million, so this is
 * small; what only locks need is in {@link PhotofinishShadow}.
 */
class PhotofinishArray extends PhantomReference<Object> {
    final int hash;
    PhotofinishArray next;

    /** The only thread that has used it so far (number + 1), while it is young; then 0. */
    int owner;

    /** Site that made it; 0 if that was not noticed. */
    int allocationSite;

    /** FastTrack state of the elements: write and read stamp alternating. None yet while all are in blocks. */
    long[] cells;

    /** FastTrack state of elements that are accessed alike (see PhotofinishBlocks); null if the array is short. */
    long[] blocks;

    /** How often elements of a block had to be taken apart, and one that needed no check was asked for. */
    int takenApart;

    int asked;

    /** Ranges checked last, if there were long ones (see PhotofinishRanges). */
    PhotofinishRanges.Checked[] checked;

    /** Clocks of elements (or plain fields) that are accessed atomically, by offset. */
    PhotofinishOffsetClocks atomics;

    /** Number of the object in the run; given when first asked for. */
    long id;

    PhotofinishArray(Object o, int hash) {
        super(o, null);
        this.hash = hash;
    }
}
