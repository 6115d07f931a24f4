import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A little of everything that the compiler turns into unusual bytecode. */
public final class Language {
    sealed interface Shape permits Circle, Rectangle, Nothing {}

    record Circle(double radius) implements Shape {
        Circle {
            if (radius < 0) {
                throw new IllegalArgumentException("negative radius " + radius);
            }
        }
    }

    record Rectangle(double width, double height) implements Shape {
        static Rectangle square(double side) {
            return new Rectangle(side, side);
        }
    }

    enum Nothing implements Shape {
        INSTANCE
    }

    private interface Named {
        String name();

        default String greeting() {
            return prefix() + name();
        }

        private String prefix() {
            return "hello ";
        }

        static Named of(String name) {
            return () -> name;
        }
    }

    private static final class Resource implements AutoCloseable {
        private final List<String> log;
        private final String name;

        Resource(List<String> log, String name) {
            this.log = log;
            this.name = name;
            log.add("open " + name);
        }

        @Override
        public void close() {
            log.add("close " + name);
            throw new IllegalStateException("closing " + name);
        }
    }

    private byte small = 120;
    private char letter = 'a';
    private long large = 1L << 40;
    private float single = 0.1f;

    public static void main(String[] args) {
        shapes();
        functions();
        text();
        new Language().arithmetic();
        control();
        resources();
    }

    private static void shapes() {
        for (Shape shape : List.of(new Circle(1), Rectangle.square(2), Nothing.INSTANCE)) {
            System.out.println(shape + " " + area(shape) + " " + shape.equals(new Circle(1)));
        }
        try {
            new Circle(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(new Rectangle(1, 2).hashCode() == new Rectangle(1, 2).hashCode());
    }

    private static double area(Shape shape) {
        if (shape instanceof Circle circle && circle.radius() > 0) {
            return 3 * circle.radius() * circle.radius();
        }
        return shape instanceof Rectangle r ? r.width() * r.height() : 0;
    }

    private static void functions() {
        int[] calls = {0};
        Supplier<Integer> counter = () -> ++calls[0];
        Function<Integer, Function<Integer, Integer>> add = a -> b -> a + b + counter.get();
        BiFunction<String, Integer, Character> charAt = String::charAt;
        Function<String, StringBuilder> make = StringBuilder::new;
        Function<Integer, long[]> array = long[]::new;
        IntBinaryOperator max = Math::max;
        System.out.println(add.apply(1).apply(2) + " " + charAt.apply("word", 2) + " " + make.apply("x").append('y')
                + " " + array.apply(3).length + " " + max.applyAsInt(3, 4) + " " + calls[0]);
        Map<Integer, List<String>> byLength = Stream.of("a", "bb", "cc", "ddd")
                .sorted(Comparator.<String>naturalOrder().reversed())
                .collect(Collectors.groupingBy(String::length, TreeMap::new, Collectors.toList()));
        System.out.println(byLength + " " + Named.of("you").greeting());
        System.out.println(Optional.of(5).map(n -> n * 2).filter(n -> n > 9).orElseGet(() -> -1));
    }

    private static void text() {
        String nothing = null;
        char c = 'z';
        String block = """
                two lines,
                  the second "indented"\
                 and joined
                """;
        System.out.print("" + 1 + 2L + 3.5f + 4.5 + c + true + nothing + new int[0].length + block);
    }

    private void arithmetic() {
        small += 10;
        letter++;
        large >>>= 3;
        single *= 3;
        int shifted = -17 >>> 28 ^ -17 >> 2;
        System.out.println(small + " " + letter + " " + large + " " + single + " " + shifted + " " + -17 % 5 + " "
                + (int) 3e10 + " " + (byte) 300 + " " + 0.0 / 0 + " " + Long.MIN_VALUE / -1);
    }

    @SuppressWarnings("fallthrough")
    private static void control() {
        StringBuilder path = new StringBuilder();
        outer:
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 5; j++) {
                if (j == 3) {
                    continue outer;
                }
                if (i == 2) {
                    break outer;
                }
                path.append(switch (i * 10 + j) {
                    case 0, 1 -> "a";
                    case 2 -> {
                        String inner = "b";
                        yield inner + j;
                    }
                    default -> "c";
                });
            }
        }
        for (String word : new String[] {"Aa", "BB", "other"}) { // the first two have the same hash
            switch (word) {
                case "Aa":
                    path.append(1);
                    // falls through
                case "BB":
                    path.append(2);
                    break;
                default:
                    path.append(3);
            }
        }
        switch (1_000_000 + path.length()) {
            case 1_000_000 -> path.append("none");
            case -5 -> path.append("never");
            default -> path.append(nested(3));
        }
        System.out.println(path);
    }

    private static int nested(int n) {
        while (true) {
            try {
                try {
                    if (n-- == 0) {
                        return n;
                    }
                    throw new IllegalStateException();
                } finally {
                    n--;
                }
            } catch (IllegalStateException e) {
                if (n < 0) {
                    return n * 100;
                }
            }
        }
    }

    private static void resources() {
        List<String> log = new ArrayList<>();
        try (Resource first = new Resource(log, "first");
                Resource second = new Resource(log, "second")) {
            log.add("use " + first.name + " and " + second.name);
            throw new IllegalArgumentException("body");
        } catch (RuntimeException e) {
            log.add(e.getMessage() + " with " + e.getSuppressed().length + " more");
        }
        System.out.println(log);
    }
}
