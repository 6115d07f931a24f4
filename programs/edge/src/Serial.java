import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamField;
import java.io.Serializable;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Serialisation of classes that leave their version to be computed from what they
 * look like: the numbers and the bytes must not depend on who is watching.
 */
@SuppressWarnings("serial") // leaving serialVersionUID out is the point
public final class Serial {
    static class Animal implements Serializable {
        static int made;
        protected String name = "nobody";
        private transient int cached = 3;
        volatile long weight = 12;

        static {
            made = 1;
        }

        int cached() {
            return cached;
        }
    }

    static final class Dog extends Animal {
        private final int[] litter = {1, 2, 3};
        private Dog friend;
        private Kind kind = Kind.SMALL;

        public synchronized void meet(Dog other) {
            friend = other;
        }

        private Supplier<String> lazily() {
            return () -> name + kind;
        }
    }

    enum Kind {
        SMALL,
        LARGE
    }

    record Pair(String left, int right) implements Serializable {}

    interface Marked extends Serializable {
        int MARK = 5;

        int mark();
    }

    abstract static class Shape implements Marked {
        double size = 1.5;

        abstract double area();

        @Override
        public int mark() {
            return MARK;
        }
    }

    static final class Square extends Shape {
        boolean[] corners = new boolean[4];

        @Override
        double area() {
            return size * size;
        }
    }

    private Serial() {}

    public static void main(String[] args) throws Exception {
        List<Class<?>> classes =
                List.of(Animal.class, Dog.class, Kind.class, Pair.class, Marked.class, Shape.class, Square.class);
        for (Class<?> each : classes) {
            ObjectStreamClass stream = ObjectStreamClass.lookup(each);
            System.out.println(each.getName() + " " + stream.getSerialVersionUID());
            for (ObjectStreamField field : stream.getFields()) {
                System.out.println("    " + field);
            }
        }
        Dog dog = new Dog();
        dog.name = "Rex";
        dog.meet(new Dog());
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("dog", dog);
        all.put("pair", new Pair("left", 2));
        all.put("square", new Square());
        all.put("list", new ArrayList<>(List.of(1, 2, 3)));
        all.put("map", new HashMap<>(Map.of("one", 1)));
        byte[] bytes = write(all);
        System.out.println(bytes.length + " bytes " + hex(MessageDigest.getInstance("SHA-256").digest(bytes)));

        Map<?, ?> back = (Map<?, ?>) read(bytes);
        Dog copy = (Dog) back.get("dog");
        System.out.println(copy.name + " " + copy.cached() + " " + copy.litter[2] + " " + copy.friend.name + " "
                + copy.lazily().get());
        System.out.println(back.get("pair") + " " + ((Square) back.get("square")).area() + " " + back.get("list") + " "
                + back.get("map"));
    }

    private static byte[] write(Object what) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(what);
        }
        return bytes.toByteArray();
    }

    private static Object read(byte[] bytes) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte each : bytes) {
            text.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        }
        return text.toString();
    }
}
