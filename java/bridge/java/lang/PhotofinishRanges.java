package java.lang;

/** Accesses to several elements at once, and to one by reflection. Nothing about them is checked yet. */
final class PhotofinishRanges {
    private PhotofinishRanges() {}

    /** Copies; without a destination, into an array that nobody knows. */
    static void copied(PhotofinishThread t, Object src, int from, Object dst, int to, int length, int site) {
        if (PhotofinishNative.FULL) PhotofinishFlow.copied(t, src, from, dst, to, length, site);
        range(t, src, from, length, site, false);
        range(t, dst, to, length, site, true);
    }

    /**
     * Compared up to the first difference, at `at`, or all if that is negative. What lies behind it may have
     * been looked at, but cannot have mattered.
     */
    static void compared(PhotofinishThread t, int at, Object a, int from, Object b, int from2, int length, int site) {
        int n = at < 0 ? length : at + 1;
        range(t, a, from, n, site, false);
        range(t, b, from2, n, site, false);
    }

    static void element(PhotofinishThread t, Object array, int index, int site, boolean write) {
        if (array != null && array.getClass().isArray()) range(t, array, index, 1, site, write);
    }

    private static void range(PhotofinishThread t, Object array, int from, int length, int site, boolean write) {
        if (array == null || from < 0 || length <= 0) return;
        int end = PhotofinishTable.length(array);
        if (length > end - from) return; // the program's own call throws
        for (int i = from; i < from + length; i++) {
            if (PhotofinishNative.EVENTS) PhotofinishEvents.elem(t, array, i, site, write);
            else if (write) PhotofinishFastTrack.writeElem(t, array, i, site);
            else PhotofinishFastTrack.readElem(t, array, i, site);
        }
    }
}
