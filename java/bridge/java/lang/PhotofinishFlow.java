package java.lang;

import static java.lang.PhotofinishConstants.*;

/**
 * The way of a thread through the code, as records between its events; what they mean stands in
 * docs/trace-format.md. Nothing is told of code that runs for the JDK itself (unwatched), as nothing
 * is told of its accesses.
 */
final class PhotofinishFlow {
    private PhotofinishFlow() {}

    /** A method begins or is left by an exception, or a handler begins: with the number of steps so far. */
    static void method(PhotofinishThread t, int event, int site) {
        if (t.unwatched != 0) return;
        PhotofinishEvents.put(t, event | (long) site << EVENT_SITE_SHIFT, t.steps & 0xffffffffL, 0);
    }

    static void decided(PhotofinishThread t, int bit) {
        if (t.unwatched != 0) return;
        t.steps++;
        int bits = t.bits << 1 | bit;
        if (bits < 0) {
            bits(t, bits);
            bits = 1;
        }
        t.bits = bits;
    }

    static void switched(PhotofinishThread t, int key, int site) {
        if (t.unwatched != 0) return;
        t.steps++;
        PhotofinishEvents.put(t, EVENT_BRANCH | (long) site << EVENT_SITE_SHIFT, key & 0xffffffffL, 0);
    }

    /** Where in the code the next event belongs: events of code without probes cannot tell by their site. */
    static void place(PhotofinishThread t) {
        if (t.told == t.steps) return;
        t.told = t.steps;
        PhotofinishEvents.put(t, EVENT_METHOD_EXIT, t.steps & 0xffffffffL, 0);
    }

    /** An array is about to be copied: how many accesses that will be, 0 if the copying throws. */
    static void copied(PhotofinishThread t, Object src, int from, Object dst, int to, int length, int site) {
        if (t.unwatched != 0) return;
        long count = (PhotofinishRanges.fits(src, from, length) ? length : 0)
                + (PhotofinishRanges.fits(dst, to, length) ? length : 0);
        PhotofinishEvents.put(t, EVENT_BRANCH | (long) site << EVENT_SITE_SHIFT, count & 0xffffffffL, 0);
    }

    static void end(PhotofinishThread t) {
        if (t.bits != 1) bits(t, t.bits);
        t.bits = 1;
    }

    private static void bits(PhotofinishThread t, int bits) {
        PhotofinishEvents.put(t, EVENT_BRANCH, bits & 0xffffffffL, 0);
    }
}
