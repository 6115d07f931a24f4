package java.lang;

import static java.lang.PhotofinishConstants.*;
import static java.lang.PhotofinishNative.U;

/**
 * Reads that may see older writes, in controlled runs: the values that were written to a location, and the older
 * one in its place while a read is made that sees it. Which writes a read may see, and which of them it sees, the
 * agent decides (crates/memory, crates/schedule/src/adversary.rs); here are the values, as references must not leave Java.
 *
 * <p>Only one thread of the program runs, and there is no scheduling point between a probe before an access and the
 * one after it. A write that nobody told (reflection, JNI, a copy of an array, a thread that is not controlled) is noticed by the
 * value that is there: what was known is forgotten then, so that nothing is seen that may not be.
 */
final class PhotofinishWeak {
    /** Characters of a text that are shown. */
    private static final int LONGEST = 40;

    /** The locations of one object that were written, by their offsets. */
    static final class Locations {
        private Location[] rows = new Location[8];
        private int count;

        Location find(long offset) {
            for (Location l = rows[at(offset, rows.length)]; l != null; l = l.next) if (l.offset == offset) return l;
            return null;
        }

        Location add(long offset, char of) {
            if (count++ == rows.length) grow();
            Location l = new Location(offset, of);
            int at = at(offset, rows.length);
            l.next = rows[at];
            rows[at] = l;
            return l;
        }

        private void grow() {
            Location[] more = new Location[2 * rows.length];
            for (Location row : rows) {
                for (Location l = row; l != null; ) {
                    Location next = l.next;
                    int at = at(l.offset, more.length);
                    l.next = more[at];
                    more[at] = l;
                    l = next;
                }
            }
            rows = more;
        }

        private static int at(long offset, int length) {
            int hash = (int) offset * 0x9e3779b9;
            return hash >>> 8 & length - 1;
        }
    }

    /** The last values of one location: number 0 is what was there before anybody wrote, or what nobody told. */
    static final class Location {
        final long offset;
        final char of;
        Location next;
        int newest;
        private long first;
        private Object firstReference;
        private final long[] values;
        private final Object[] references;

        Location(long offset, char of) {
            this.offset = offset;
            this.of = of;
            boolean reference = of == 'L';
            values = reference ? null : new long[WEAK_KEPT];
            references = reference ? new Object[WEAK_KEPT] : null;
        }

        void begin(Object base) {
            newest = 0;
            if (of == 'L') firstReference = U.getReference(base, offset);
            else first = get(base, offset, of);
        }

        void add(Object base) {
            newest++;
            if (of == 'L') references[newest % WEAK_KEPT] = U.getReference(base, offset);
            else values[newest % WEAK_KEPT] = get(base, offset, of);
        }

        boolean isThere(Object base) {
            return of == 'L' ? U.getReference(base, offset) == reference(newest) : get(base, offset, of) == value(newest);
        }

        long value(int number) {
            return number == 0 ? first : values[number % WEAK_KEPT];
        }

        Object reference(int number) {
            return number == 0 ? firstReference : references[number % WEAK_KEPT];
        }

        /** Those that have the value of the newest one, by how many writes they are older. */
        long same() {
            long same = 0;
            for (int back = 0; back <= WEAK_KEPT && back <= newest; back++) {
                int n = newest - back;
                boolean equal = of == 'L' ? reference(n) == reference(newest) : value(n) == value(newest);
                if (equal) same |= 1L << back;
            }
            return same;
        }

        void put(Object base, int number) {
            if (of == 'L') U.putReferenceVolatile(base, offset, reference(number));
            else set(base, offset, of, value(number));
        }

        String text(int number) {
            switch (of) {
                case 'L': {
                    Object o = reference(number);
                    return o == null ? "null" : o instanceof String ? quoted((String) o) : named(o.getClass());
                }
                case 'Z':
                    return value(number) == 0 ? "false" : "true";
                case 'C':
                    return "'" + (char) value(number) + "'";
                case 'F':
                    return String.valueOf(Float.intBitsToFloat((int) value(number)));
                case 'D':
                    return String.valueOf(Double.longBitsToDouble(value(number)));
                default:
                    return String.valueOf(value(number));
            }
        }
    }

    private PhotofinishWeak() {}

    /** As stories show it: a long text is cut. */
    private static String quoted(String text) {
        return text.length() <= LONGEST ? "\"" + text + "\"" : "\"" + text.substring(0, LONGEST) + "...\"";
    }

    /** An object by its class: no code of the program runs for it. */
    private static String named(Class<?> of) {
        String brackets = "";
        for (; of.isArray(); of = of.getComponentType()) brackets += "[]";
        String name = of.getName();
        for (int at = name.length() - 2; at >= 0; at--) {
            char c = name.charAt(at);
            if (c == '.' || c == '$') {
                name = name.substring(at + 1);
                break;
            }
        }
        return ("AEIOUaeiou".indexOf(name.charAt(0)) >= 0 ? "an " : "a ") + name + brackets;
    }

    private static boolean isOff(PhotofinishThread t) {
        restore(t);
        return t.place == 0 || (t.quiet | t.unwatched | t.linking | t.loading) != 0;
    }

    // Where an access goes: an object and an offset; of a static, its class.

    static void field(PhotofinishThread t, Object o, char of, int site, boolean write) {
        if (isOff(t)) return;
        long at = PhotofinishNative.SITES + ((long) site << SITE_SHIFT);
        long off = U.getLong(at);
        if (off == 0) off = PhotofinishNative.resolveFor(t, site, o);
        if (off <= 0) return; // volatile, final, or not checked
        int where = U.getInt(at + SITE_PLACE);
        if (where < 0) {
            PhotofinishShadow s = PhotofinishControl.owner(-where);
            Object c = s == null ? null : PhotofinishControl.referent(s);
            if (c != null) access(t, s, c, PhotofinishControl.staticOffset(-where), of, site, write);
        } else if (where > 0 && o != null) {
            access(t, PhotofinishTable.near(t, o, site), o, where, of, site, write);
        }
    }

    static void element(PhotofinishThread t, Object array, int index, char of, int site, boolean write) {
        if (isOff(t) || array == null || index < 0 || index >= PhotofinishTable.length(array)) return;
        Class<?> c = array.getClass();
        long offset = PhotofinishNative.base(c) + (long) index * U.arrayIndexScale(c);
        if (of == 'B' && c == boolean[].class) of = 'Z';
        access(t, PhotofinishTable.near(t, array, site), array, offset, of, site, write);
    }

    private static void access(
            PhotofinishThread t, PhotofinishShadow s, Object base, long offset, char of, int site, boolean write) {
        if (s.weak == null) {
            if (!write) return;
            s.weak = new Locations();
        }
        Location l = s.weak.find(offset);
        if (l == null) {
            if (!write) return;
            l = s.weak.add(offset, of);
            l.begin(base);
        } else if (!l.isThere(base)) {
            l.begin(base);
            PhotofinishNative.forgot(PhotofinishControl.number(s), (int) offset);
        }
        if (write) {
            t.weakBase = base;
            t.weakOwner = s;
            t.weakSite = site;
            t.weakWritten = l;
        } else if (l.newest > 0 && !(PhotofinishControl.isShared(site) && PhotofinishNative.isInternal())) {
            see(t, s, base, l, site);
        }
    }

    private static void see(PhotofinishThread t, PhotofinishShadow s, Object base, Location l, int site) {
        int number = PhotofinishControl.number(s);
        int answer = PhotofinishNative.sees(t.clock, t.epoch, number, (int) l.offset, site, l.same());
        t.frozen = null; // class initialisation may have been learnt of
        int back = answer & WEAK_FIRST - 1;
        if (back == 0) return;
        int sees = l.newest - back;
        if ((answer & WEAK_FIRST) != 0) {
            Thread self = Thread.currentThread();
            self.$pf = null; // the texts are made by code that has probes
            try {
                String saw = l.text(sees), newest = l.text(l.newest);
                PhotofinishNative.staleRead(t.clock, t.epoch, number, (int) l.offset, site, back, saw, newest);
            } finally {
                self.$pf = t;
            }
        }
        t.weakBase = base;
        t.weakSeen = l;
        l.put(base, sees);
    }

    /** The read is made: the newest value is there again. */
    static void restore(PhotofinishThread t) {
        Location l = t.weakSeen;
        if (l == null) return;
        t.weakSeen = null;
        l.put(t.weakBase, l.newest);
        t.weakBase = null;
    }

    /** The write is made. */
    static void left(PhotofinishThread t) {
        Location l = t.weakWritten;
        if (l == null) return;
        t.weakWritten = null;
        l.add(t.weakBase);
        PhotofinishNative.left(t.clock, t.epoch, PhotofinishControl.number(t.weakOwner), (int) l.offset, t.weakSite);
        t.weakBase = null;
        t.weakOwner = null;
    }

    private static long get(Object base, long offset, char of) {
        switch (of) {
            case 'Z':
            case 'B':
                return U.getByte(base, offset);
            case 'C':
                return U.getChar(base, offset);
            case 'S':
                return U.getShort(base, offset);
            case 'J':
            case 'D':
                return U.getLong(base, offset);
            default:
                return U.getInt(base, offset);
        }
    }

    private static void set(Object base, long offset, char of, long value) {
        switch (of) {
            case 'Z':
            case 'B':
                U.putByteVolatile(base, offset, (byte) value);
                break;
            case 'C':
                U.putCharVolatile(base, offset, (char) value);
                break;
            case 'S':
                U.putShortVolatile(base, offset, (short) value);
                break;
            case 'J':
            case 'D':
                U.putLongVolatile(base, offset, value);
                break;
            default:
                U.putIntVolatile(base, offset, (int) value);
        }
    }
}
