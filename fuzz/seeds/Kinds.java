/** Records, enums, sealed types, pattern matching. */
sealed interface Kinds {
    enum Colour { RED, GREEN }

    record Dot(int x, int y, Colour colour) implements Kinds {
        public Dot {
            assert x >= 0 : "negative";
        }
    }

    record Line(Dot from, Dot to) implements Kinds {}

    static int weigh(Kinds k) {
        if (k instanceof Dot d && d.colour() == Colour.RED) {
            return d.x();
        }
        return switch (k instanceof Line l ? l.to().colour() : Colour.GREEN) {
            case RED -> 1;
            case GREEN -> 2;
        };
    }
}
