package racy;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** The same plain race, in the shapes that the language gives it. */
final class Shapes {
    private Shapes() {}

    static final class LambdaCapture implements Section {
        @Override
        public void run() throws Exception {
            int[] counter = {0};
            Duel.run(
                    () -> counter[0]++, // race: lambda-capture
                    () -> counter[0]++); // race: lambda-capture
        }
    }

    /** A method reference bound to a shared object. */
    static final class MethodReference implements Section {
        static final class Sum {
            int total;

            void add(int n) {
                total += n; // race: method-reference
            }
        }

        @Override
        public void run() throws Exception {
            IntConsumer adder = new Sum()::add;
            Duel.run(() -> adder.accept(1), () -> adder.accept(2));
        }
    }

    /** An inner class that reaches into a private field of the class around it. */
    static final class InnerClass implements Section {
        private int hidden;

        final class Writer implements Duel.Body {
            @Override
            public void run() {
                hidden = 1; // race: inner-class
            }
        }

        final class Counter implements Duel.Body {
            @Override
            public void run() {
                hidden++; // race: inner-class
            }
        }

        @Override
        public void run() throws Exception {
            // That they may touch a private field is looked up in the nest's host, which is loaded
            // for that behind locks of the class loader: they would order the two by accident.
            InnerClass other = new InnerClass();
            other.new Writer().run();
            other.new Counter().run();
            Duel.run(new Writer(), new Counter());
        }
    }

    /** A class without a name of its own: the JVM tells it apart by an address. */
    static final class HiddenClass implements Section {
        static final class Made implements Runnable {
            private int hidden;

            @Override
            public void run() {
                hidden++; // race: hidden-class
            }
        }

        @Override
        public void run() throws Exception {
            try (InputStream file = Shapes.class.getResourceAsStream("Shapes$HiddenClass$Made.class")) {
                MethodHandles.Lookup made = MethodHandles.lookup().defineHiddenClass(file.readAllBytes(), true);
                Runnable count = (Runnable) made.lookupClass().getDeclaredConstructor().newInstance();
                Duel.run(count::run, count::run);
            }
        }
    }

    static final class AnonymousClass implements Section {
        private long hidden;

        private Duel.Body step(long by) {
            return new Duel.Body() {
                @Override
                public void run() {
                    hidden += by; // race: anonymous-class
                }
            };
        }

        @Override
        public void run() throws Exception {
            Duel.run(step(1), step(2));
        }
    }

    /** The other way round: the outer class and a private field of the nested one. */
    static final class NestedPrivate implements Section {
        private static final class Box {
            private short hidden;
        }

        @Override
        public void run() throws Exception {
            Box box = new Box();
            Duel.run(
                    () -> box.hidden = 1, // race: nested-private
                    () -> box.hidden = 2); // race: nested-private
        }
    }

    static class Animal {
        int age;
    }

    static final class Dog extends Animal {
        void birthday() {
            age++; // race: superclass-field
        }
    }

    static final class SuperclassField implements Section {
        @Override
        public void run() throws Exception {
            Dog dog = new Dog();
            Animal animal = dog;
            Duel.run(
                    () -> dog.birthday(),
                    () -> animal.age = 7); // race: superclass-field
        }
    }

    interface Counter {
        int get();

        void set(int n);

        default void increment() {
            set(get() + 1);
        }
    }

    static final class PlainCounter implements Counter {
        private int n;

        @Override
        public int get() {
            return n; // race: interface-typed
        }

        @Override
        public void set(int value) {
            n = value; // race: interface-typed
        }
    }

    static final class InterfaceTyped implements Section {
        @Override
        public void run() throws Exception {
            Counter counter = new PlainCounter();
            Duel.run(counter::increment, counter::increment);
        }
    }

    static final class Cell<T extends Comparable<T>> {
        T value;

        Cell(T value) {
            this.value = value;
        }
    }

    static final class GenericField implements Section {
        String seen;

        @Override
        public void run() throws Exception {
            Cell<String> cell = new Cell<>("old");
            Duel.run(
                    () -> cell.value = "new", // race: generic-field
                    () -> seen = cell.value); // race: generic-field
        }
    }

    enum Colour {
        RED,
        GREEN;

        int uses;
    }

    static final class EnumField implements Section {
        @Override
        public void run() throws Exception {
            Colour.GREEN.uses = 0;
            Duel.run(
                    () -> Colour.GREEN.uses++, // race: enum-field
                    () -> Colour.GREEN.uses++); // race: enum-field
        }
    }

    /** The array that a call with variable arguments makes. */
    static final class Varargs implements Section {
        String seen;

        static String[] pack(String... things) {
            return things;
        }

        @Override
        public void run() throws Exception {
            String[] pair = pack("a", "b");
            Duel.run(
                    () -> pair[0] = "c", // race: varargs
                    () -> seen = pair[0]); // race: varargs
        }
    }

    /** A local class with a captured variable and a field. */
    static final class LocalClass implements Section {
        @Override
        public void run() throws Exception {
            float step = 0.5f;
            class Meter {
                float value;

                void turn() {
                    value += step; // race: local-class
                }
            }
            Meter meter = new Meter();
            Duel.run(meter::turn, meter::turn);
        }
    }

    /** The reference is atomic, the object is not. */
    static final class AtomicContent implements Section {
        static final class Point {
            double x;
        }

        @Override
        public void run() throws Exception {
            AtomicReference<Point> ref = new AtomicReference<>(new Point());
            Duel.run(
                    () -> ref.get().x = 1, // race: atomic-content
                    () -> ref.get().x = 2); // race: atomic-content
        }
    }

    /** Accesses inside a string switch, a try block and a conditional expression. */
    static final class ControlFlow implements Section {
        String mode = "idle";
        int seen;

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> {
                        try {
                            mode = "busy"; // race: control-flow
                        } finally {
                            Thread.yield();
                        }
                    },
                    () -> {
                        seen = switch (mode) { // race: control-flow
                            case "idle" -> 0;
                            case "busy" -> 1;
                            default -> 2;
                        };
                    });
        }
    }

    /** Compound assignment through a supplier: one read and one write on one line. */
    static final class CompoundAssignment implements Section {
        char x = 'a';

        @Override
        public void run() throws Exception {
            Supplier<CompoundAssignment> self = () -> this;
            Duel.run(
                    () -> self.get().x += 1, // race: compound-assignment
                    () -> self.get().x <<= 1); // race: compound-assignment
        }
    }
}
