package once;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Every kind of access exactly once a thread, a read and a write: `Once KIND reads` lets the reader
 * go first, `Once KIND writes` the writer, by a tenth of a second. Whatever a statement's first
 * execution has the JVM do besides must not hide the race.
 */
public final class Once {
    int field;
    long wide;
    Object reference;
    static int shared;
    static double wideShared;

    private static final Map<String, Kind> KINDS = new HashMap<>();

    /** What reads, and what writes. */
    private static final class Kind {
        final Runnable reads;
        final Runnable writes;

        Kind(Runnable reads, Runnable writes) {
            this.reads = reads;
            this.writes = writes;
        }
    }

    static Object sink;

    private static void fields() {
        Once once = new Once();
        KINDS.put("field", new Kind(() -> use(once.field), () -> once.field = 1));
        KINDS.put("wide", new Kind(() -> use(once.wide), () -> once.wide = 1));
        KINDS.put("reference", new Kind(() -> use(once.reference), () -> once.reference = "x"));
        KINDS.put("static", new Kind(() -> use(shared), () -> shared = 1));
        KINDS.put("wide-static", new Kind(() -> use(wideShared), () -> wideShared = 1));
        KINDS.put("compound", new Kind(() -> use(once.field), () -> once.field++));
        KINDS.put("other-class", new Kind(() -> use(Other.value), () -> Other.value = 1));
    }

    static final class Other {
        static int value;
    }

    private static void arrays() {
        int[] ints = new int[4];
        double[] doubles = new double[4];
        Object[] objects = new Object[4];
        int[] target = new int[4];
        KINDS.put("element", new Kind(() -> use(ints[1]), () -> ints[1] = 1));
        KINDS.put("wide-element", new Kind(() -> use(doubles[1]), () -> doubles[1] = 1));
        KINDS.put("object-element", new Kind(() -> use(objects[1]), () -> objects[1] = "x"));
        KINDS.put("copied-from", new Kind(() -> System.arraycopy(ints, 0, target, 0, 4), () -> ints[1] = 1));
        KINDS.put("copied-to", new Kind(() -> use(ints[1]), () -> System.arraycopy(target, 0, ints, 0, 4)));
        KINDS.put("clone", new Kind(() -> use(ints.clone()), () -> ints[1] = 1));
        KINDS.put("fill", new Kind(() -> use(ints[1]), () -> Arrays.fill(ints, 1)));
        KINDS.put("equals", new Kind(() -> use(Arrays.equals(ints, target)), () -> ints[1] = 1));
        KINDS.put("reflected", new Kind(() -> use(Array.getInt(ints, 1)), () -> Array.setInt(ints, 1, 1)));
    }

    private static void handles() throws ReflectiveOperationException {
        Once once = new Once();
        Field field = Once.class.getDeclaredField("field");
        VarHandle handle = MethodHandles.lookup().findVarHandle(Once.class, "field", int.class);
        VarHandle elements = MethodHandles.arrayElementVarHandle(int[].class);
        int[] ints = new int[4];
        KINDS.put("field-object", new Kind(() -> use(get(field, once)), () -> set(field, once)));
        KINDS.put("handle", new Kind(() -> use((int) handle.get(once)), () -> handle.set(once, 1)));
        KINDS.put("array-handle", new Kind(() -> use((int) elements.get(ints, 1)), () -> elements.set(ints, 1, 1)));
    }

    /** A type that nobody has made before, made by both threads: the JDK keeps one of each. */
    private static void types() {
        Once once = new Once();
        KINDS.put("type-after-write", new Kind(() -> {
            makeType();
            use(once.field);
        }, () -> {
            once.field = 1;
            makeType();
        }));
        KINDS.put("type-after-read", new Kind(() -> {
            use(once.field);
            makeType();
        }, () -> {
            makeType();
            once.field = 1;
        }));
    }

    private static void makeType() {
        use(MethodType.methodType(Once.class, Other.class, Kind.class));
    }

    private static int get(Field field, Once once) {
        try {
            return field.getInt(once);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private static void set(Field field, Once once) {
        try {
            field.setInt(once, 1);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private static void collections() {
        Map<String, String> hashed = new HashMap<>();
        Map<String, String> sorted = new TreeMap<>();
        List<String> list = new ArrayList<>();
        Runnable hashes = () -> hashed.put("k", "v");
        KINDS.put("key-set", new Kind(() -> { for (String key : hashed.keySet()) use(key); }, hashes));
        KINDS.put("entry-set", new Kind(() -> { for (Map.Entry<String, String> e : hashed.entrySet()) use(e); }, hashes));
        KINDS.put("for-each", new Kind(() -> hashed.forEach((k, v) -> use(k)), hashes));
        KINDS.put("get", new Kind(() -> use(hashed.get("k")), hashes));
        KINDS.put("tree", new Kind(() -> { for (String key : sorted.keySet()) use(key); }, () -> sorted.put("k", "v")));
        KINDS.put("list", new Kind(() -> { for (String item : list) use(item); }, () -> list.add("x")));
    }

    private static void use(Object value) {
        if (value == KINDS) sink = value;
    }

    private static void later() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        fields();
        arrays();
        handles();
        types();
        collections();
        if (args.length == 0) {
            for (String kind : KINDS.keySet()) System.out.println(kind);
            return;
        }
        Kind kind = KINDS.get(args[0]);
        boolean readsFirst = args[1].equals("reads");
        Runnable first = readsFirst ? kind.reads : kind.writes;
        Runnable second = readsFirst ? kind.writes : kind.reads;
        Thread one = new Thread(first, "first");
        Thread other = new Thread(() -> {
            later();
            second.run();
        }, "second");
        one.start();
        other.start();
        one.join();
        other.join();
    }

    private Once() {}
}
