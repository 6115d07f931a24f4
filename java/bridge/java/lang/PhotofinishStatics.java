package java.lang;

import static java.lang.PhotofinishNative.U;

import java.util.ArrayList;
import java.util.HashMap;

/**
 * The static state of the program's classes, where several executions are made with the same classes: as it was when
 * their initialisers had ended, with all that they had made. Before the next execution it is put back.
 *
 * <p>What initialisers do is known from their bytecode ({@code instrument/src/initialisers.rs}). One that may do more than give
 * values to what is its own, or that runs when there is a second thread already, means that every execution gets classes
 * of its own, as does a thread that is left behind: it may hold monitors of the classes.
 */
final class PhotofinishStatics {
    // What the agent says of an initialiser.
    private static final int ABSENT = 0;
    private static final int CONSTANTS = 1;
    private static final int OWN = 2;

    private static final String LOCKS = "java.util.concurrent.locks.";

    /** Objects and elements that are saved. */
    private static final int MOST_OBJECTS = 500;

    private static final int MOST_ELEMENTS = 50_000;

    /** Where the fields of a class of the JDK or the program are, those it inherits too. */
    private static final HashMap<Class<?>, long[]> FIELDS = new HashMap<>();

    /** One class. */
    private static final class Known {
        final Class<?> c;
        boolean begun;
        boolean ended;
        boolean ready;

        Known(Class<?> c) {
            this.c = c;
        }
    }

    private final PhotofinishLoader loader;
    private final ArrayList<Known> all = new ArrayList<>();
    private final HashMap<String, Known> byName = new HashMap<>();

    /** Why there must be other classes for the next execution; null if they need not. */
    private String refused;

    // What is saved: fields, and whole arrays, each with a copy.
    private int count;
    private Object[] bases = new Object[64];
    private long[] offsets = new long[64];
    private char[] types = new char[64];
    private long[] bits = new long[64];
    private Object[] values = new Object[64];

    /** Objects that have been looked at. */
    private final ArrayList<Object> seen = new ArrayList<>();

    private int elements;

    /** Locks among them, and whether they had conditions. */
    private final ArrayList<PhotofinishShadow> locks = new ArrayList<>();

    private final ArrayList<Boolean> open = new ArrayList<>();

    PhotofinishStatics(PhotofinishLoader loader) {
        this.loader = loader;
    }

    synchronized void add(String name, Class<?> c) {
        Known k = new Known(c);
        all.add(k);
        byName.put(name, k);
    }

    /** The current thread begins to initialise the class that the site is in, or has ended that. */
    static void initialising(PhotofinishThread t, int site, boolean ends) {
        PhotofinishLoader loader = PhotofinishLoader.current;
        if (loader == null || t.place == 0) return;
        Thread self = Thread.currentThread();
        self.$pf = null; // what is done here is nobody's
        try {
            String name = PhotofinishNative.programClass(site);
            if (name != null) loader.statics.initialising(name, ends);
        } finally {
            self.$pf = t;
        }
    }

    private synchronized void initialising(String name, boolean ends) {
        Known k = byName.get(name);
        if (k == null) return;
        k.begun = true;
        k.ended = ends;
        if (!ends || refused != null) return;
        int what = PhotofinishNative.initialiser(name);
        if (what == OWN && !PhotofinishNative.isAlone()) {
            refuse(name + " is initialised when there are other threads");
        } else if (what == OWN || what == CONSTANTS) {
            saveStatics(k.c, false);
        } else {
            refuse(PhotofinishNative.whyNot(name));
        }
    }

    private void refuse(String why) {
        if (refused == null) refused = why;
    }

    /** Whether the next execution can have the same classes; why not, or null. */
    synchronized String why() {
        for (int i = 0; i < all.size() && refused == null; i++) {
            Known k = all.get(i);
            if (k.ready) continue;
            boolean initialised = !U.shouldBeInitialized(k.c);
            if (!initialised) {
                if (k.begun) refuse("the initialiser of " + k.c.getName() + " failed");
                continue;
            }
            k.ready = true;
            if (k.ended) continue;
            if (PhotofinishNative.initialiser(k.c.getName()) == ABSENT) saveStatics(k.c, true);
            else refuse(k.c.getName() + " was initialised unseen");
        }
        return refused;
    }

    /** All as it was. */
    synchronized void putBack() {
        for (int i = 0; i < count; i++) {
            Object o = bases[i];
            long at = offsets[i];
            switch (types[i]) {
                case 'Z', 'B' -> U.putByte(o, at, (byte) bits[i]);
                case 'C', 'S' -> U.putShort(o, at, (short) bits[i]);
                case 'I', 'F' -> U.putInt(o, at, (int) bits[i]);
                case 'J', 'D' -> U.putLong(o, at, bits[i]);
                case 'a' -> System.arraycopy(values[i], 0, o, 0, PhotofinishTable.length(o));
                default -> U.putReference(o, at, values[i]);
            }
        }
        for (int i = 0; i < locks.size(); i++) {
            PhotofinishShadow s = locks.get(i);
            s.open = open.get(i);
            if (s.lock != null) s.lock.open = s.open;
        }
        U.fullFence();
    }

    /** `fresh`: no initialiser gave them values. */
    private void saveStatics(Class<?> c, boolean fresh) {
        long[] fields = PhotofinishNative.fieldsOf(c, true);
        if (fields == null) {
            refuse("the fields of " + c.getName() + " are not known");
            return;
        }
        for (long field : fields) {
            boolean isFinal = (field & 1) != 0;
            if (fresh && isFinal) continue; // it has a constant
            char type = (char) (field >>> 8 & 0xff);
            long at = field >>> 16;
            if (fresh) save(c, at, type, 0, null);
            else saveField(c, at, type);
        }
    }

    private void saveField(Object o, long at, char type) {
        long value = 0;
        Object reference = null;
        switch (type) {
            case 'Z', 'B' -> value = U.getByte(o, at);
            case 'C', 'S' -> value = U.getShort(o, at);
            case 'I', 'F' -> value = U.getInt(o, at);
            case 'J', 'D' -> value = U.getLong(o, at);
            default -> reference = U.getReference(o, at);
        }
        save(o, at, type, value, reference);
        if (reference != null) reach(reference);
    }

    private void save(Object o, long at, char type, long value, Object reference) {
        if (count == bases.length) {
            int more = 2 * count;
            bases = grown(bases, more);
            values = grown(values, more);
            long[] o2 = new long[more];
            System.arraycopy(offsets, 0, o2, 0, count);
            offsets = o2;
            long[] b2 = new long[more];
            System.arraycopy(bits, 0, b2, 0, count);
            bits = b2;
            char[] t2 = new char[more];
            System.arraycopy(types, 0, t2, 0, count);
            types = t2;
        }
        bases[count] = o;
        offsets[count] = at;
        types[count] = type;
        bits[count] = value;
        values[count++] = reference;
    }

    private static Object[] grown(Object[] a, int length) {
        Object[] b = new Object[length];
        System.arraycopy(a, 0, b, 0, a.length);
        return b;
    }

    /** An object that statics lead to. */
    private void reach(Object first) {
        ArrayList<Object> todo = new ArrayList<>();
        todo.add(first);
        while (!todo.isEmpty() && refused == null) {
            Object o = todo.remove(todo.size() - 1);
            if (o == null || isLeaf(o) || hasSeen(o)) continue;
            seen.add(o);
            Class<?> c = o.getClass();
            if (c.getName().startsWith(LOCKS)) {
                PhotofinishShadow s = PhotofinishTable.find(o);
                locks.add(s);
                open.add(s.open || s.lock != null && s.lock.open);
            }
            if (c.isArray()) {
                int length = PhotofinishTable.length(o);
                elements += length;
                save(o, 0, 'a', 0, copy(o, length));
                if (o instanceof Object[]) {
                    Object[] array = (Object[]) o;
                    for (int i = 0; i < length; i++) todo.add(array[i]);
                }
            } else if (!isKnown(c)) {
                refuse("its static fields lead to a " + c.getName());
            } else {
                long[] fields = fields(c);
                if (fields == null) {
                    refuse("the fields of " + c.getName() + " are not known");
                    return;
                }
                for (long field : fields) {
                    char type = (char) (field >>> 8 & 0xff);
                    long at = field >>> 16;
                    int before = count;
                    saveShallow(o, at, type);
                    if (values[before] != null) todo.add(values[before]);
                }
            }
            if (seen.size() > MOST_OBJECTS || elements > MOST_ELEMENTS) {
                refuse("its static fields lead to too many objects");
            }
        }
    }

    private void saveShallow(Object o, long at, char type) {
        switch (type) {
            case 'Z', 'B' -> save(o, at, type, U.getByte(o, at), null);
            case 'C', 'S' -> save(o, at, type, U.getShort(o, at), null);
            case 'I', 'F' -> save(o, at, type, U.getInt(o, at), null);
            case 'J', 'D' -> save(o, at, type, U.getLong(o, at), null);
            default -> save(o, at, type, 0, U.getReference(o, at));
        }
    }

    /** By identity, and without asking for hashes: those are numbers that the program sees. */
    private boolean hasSeen(Object o) {
        for (int i = seen.size() - 1; i >= 0; i--) if (seen.get(i) == o) return true;
        return false;
    }

    private static Object copy(Object array, int length) {
        Object copy = array instanceof Object[]
                ? new Object[length]
                : java.lang.reflect.Array.newInstance(array.getClass().getComponentType(), length);
        System.arraycopy(array, 0, copy, 0, length);
        return copy;
    }

    private static long[] fields(Class<?> c) {
        long[] known = FIELDS.get(c);
        if (known == null) {
            known = PhotofinishNative.fieldsOf(c, false);
            // Classes of the program would be kept by this for ever.
            if (known != null && c.getClassLoader0() == null && !c.isHidden()) FIELDS.put(c, known);
        }
        return known;
    }

    /** What has no state that changes, or state that is nobody's. */
    private static boolean isLeaf(Object o) {
        String name = o.getClass().getName();
        if (o instanceof String || o instanceof Class || o instanceof Number && isBox(name)) return true;
        if (o instanceof java.lang.invoke.VarHandle || o instanceof java.lang.invoke.MethodHandles.Lookup) return true;
        if (name.startsWith("java.util.concurrent.atomic.") && name.contains("FieldUpdater")) return true;
        if (o instanceof Boolean || o instanceof Character || o.getClass() == Object.class) return true;
        return o == System.in || o == System.out || o == System.err || o instanceof Enum && isOfJdk(o);
    }

    private static boolean isBox(String name) {
        return name.startsWith("java.lang.") || name.startsWith("java.math.");
    }

    private static boolean isOfJdk(Object o) {
        return o.getClass().getClassLoader0() == null;
    }

    /** Whether the state of its objects is in their fields. */
    private boolean isKnown(Class<?> c) {
        ClassLoader by = c.getClassLoader0();
        if (by == loader) {
            for (Class<?> up = c; up != null; up = up.getSuperclass()) {
                if (up.getClassLoader0() != loader) return up == Object.class || up == Enum.class || isKnown(up);
            }
        }
        if (by != null) return false;
        String name = c.getName();
        if (name.startsWith(LOCKS)) return !name.contains("ReadWrite") && !name.contains("Stamped");
        return name.startsWith("java.util.concurrent.atomic.")
                || name.equals("java.lang.Record")
                || name.equals("java.lang.StringBuilder")
                || name.equals("java.lang.StringBuffer")
                || name.startsWith("java.util.")
                        && !Thread.class.isAssignableFrom(c)
                        && !java.lang.ref.Reference.class.isAssignableFrom(c)
                        && !java.util.concurrent.Executor.class.isAssignableFrom(c)
                        && !name.startsWith("java.util.WeakHashMap")
                        && !name.startsWith("java.util.Timer");
    }
}
