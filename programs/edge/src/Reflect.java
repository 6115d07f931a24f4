import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntSupplier;

/** Everything that reflection tells about some classes: nothing may be added to it or missing from it. */
public final class Reflect {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Tagged {
        String value();
    }

    @Tagged("base")
    static class Base<T extends Comparable<T>> {
        static int count;
        public volatile long level;
        protected final T value;
        private int[] cells = {1};
        transient Object cache;

        Base(T value) {
            this.value = value;
        }

        synchronized int first() {
            return cells[0];
        }

        @Deprecated
        private static void hidden() throws IllegalStateException {
            count++;
        }
    }

    static final class Derived extends Base<String> implements IntSupplier {
        boolean flag;

        Derived() {
            super("x");
        }

        @Override
        public int getAsInt() {
            IntSupplier inner = () -> first() + (flag ? 1 : 0);
            return inner.getAsInt();
        }

        final class Inner {
            int depth = flag ? 2 : 1;
        }
    }

    record Point(int x, @Tagged("y") int y) {}

    enum Colour {
        RED {
            @Override
            int code() {
                return 1;
            }
        },
        GREEN;

        int code() {
            return 2;
        }
    }

    sealed interface Shape permits Round, Flat {}

    record Round(double radius) implements Shape {}

    record Flat() implements Shape {}

    private Reflect() {}

    public static void main(String[] args) throws Exception {
        List<Class<?>> own = List.of(Base.class, Derived.class, Derived.Inner.class, Point.class, Colour.class,
                Colour.RED.getClass(), Shape.class, Round.class, Tagged.class, Reflect.class);
        for (Class<?> each : own) {
            dump(each);
        }
        // Of the JDK's classes only numbers: their members differ between releases.
        for (Class<?> each : List.of(Thread.class, ArrayList.class, java.util.HashMap.class,
                java.util.concurrent.ConcurrentHashMap.class, java.util.concurrent.locks.ReentrantLock.class,
                java.util.concurrent.FutureTask.class, Object.class, String.class)) {
            System.out.println(each.getName() + ": " + each.getDeclaredFields().length + " fields, "
                    + each.getDeclaredMethods().length + " methods, " + each.getFields().length + " public fields, "
                    + each.getDeclaredConstructors().length + " constructors");
        }
        Derived derived = new Derived();
        Field level = Base.class.getField("level");
        level.setLong(derived, 9);
        System.out.println("level " + level.getLong(derived) + ", supplied " + derived.getAsInt());
        Base.hidden();
        System.out.println("count " + Base.count + ", inner " + derived.new Inner().depth);
    }

    private static void dump(Class<?> type) {
        System.out.println(type.toGenericString() + " extends " + type.getGenericSuperclass() + " flags "
                + Integer.toHexString(type.getModifiers()));
        System.out.println("  annotations " + Arrays.toString(type.getAnnotations()));
        members(type.getDeclaredFields());
        members(type.getDeclaredConstructors());
        members(type.getDeclaredMethods());
        List<String> nested = new ArrayList<>();
        for (Class<?> each : type.getDeclaredClasses()) {
            nested.add(each.getName());
        }
        Collections.sort(nested);
        System.out.println("  nested " + nested + " host " + type.getNestHost().getName() + " enclosing "
                + type.getEnclosingMethod());
        if (type.isRecord()) {
            for (RecordComponent each : type.getRecordComponents()) {
                System.out.println("  component " + each + " " + Arrays.toString(each.getAnnotations()));
            }
        }
        if (type.isSealed()) {
            System.out.println("  permits " + Arrays.toString(type.getPermittedSubclasses()));
        }
    }

    private static <M extends AccessibleObject & Member> void members(M[] members) {
        List<String> lines = new ArrayList<>();
        for (M each : members) {
            lines.add("  " + each + " " + Integer.toHexString(each.getModifiers()) + (each.isSynthetic() ? " synthetic" : ""));
        }
        Collections.sort(lines);
        lines.forEach(System.out::println);
    }
}
