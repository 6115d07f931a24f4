package java.lang;

/**
 * Clocks by offset within one object: elements of an array used atomically, and plain fields that a
 * VarHandle or Unsafe treats as volatile. Open addressing; guarded by its own monitor.
 */
final class PhotofinishOffsetClocks {
    private static final int[] NOTHING = {};

    private long[] offsets = new long[8];
    private int[][] clocks = new int[8][];
    private int used;

    synchronized int[] get(long offset) {
        return clocks[slot(offset)];
    }

    /** `tries`: with an operation that may fail, and is then taken back. */
    synchronized void release(PhotofinishThread t, long offset, boolean tries) {
        if (2 * used > offsets.length) grow();
        int i = slot(offset);
        if (clocks[i] == null) {
            offsets[i] = offset;
            used++;
        }
        int[] old = clocks[i];
        clocks[i] = PhotofinishClocks.releaseInto(t, old);
        if (tries) t.tries(clocks[i], old);
    }

    /** See PhotofinishClocks. */
    synchronized void tried(PhotofinishThread t, long offset, boolean failed) {
        int i = slot(offset);
        boolean mine = clocks[i] != null && clocks[i] == t.tried;
        if (failed && mine) clocks[i] = t.replaced == null ? NOTHING : t.replaced;
        t.tries(null, null);
    }

    private int slot(long offset) {
        int mask = offsets.length - 1;
        int i = (int) (offset * 0x9E3779B97F4A7C15L >>> 40) & mask;
        while (clocks[i] != null && offsets[i] != offset) i = i + 1 & mask;
        return i;
    }

    private void grow() {
        long[] oldOffsets = offsets;
        int[][] oldClocks = clocks;
        offsets = new long[2 * oldOffsets.length];
        clocks = new int[2 * oldOffsets.length][];
        for (int i = 0; i < oldOffsets.length; i++) {
            if (oldClocks[i] == null) continue;
            int j = slot(oldOffsets[i]);
            offsets[j] = oldOffsets[i];
            clocks[j] = oldClocks[i];
        }
    }
}
