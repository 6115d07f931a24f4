package bugs;

/** The object is published before it is complete. */
public final class TooEarly {
    private static volatile TooEarly shared;
    private volatile String name;

    public static void main(String[] args) {
        Bugs.together(TooEarly::make, TooEarly::use);
    }

    private static void make() {
        TooEarly made = new TooEarly();
        shared = made;
        made.name = "ready";
    }

    private static void use() {
        TooEarly seen = shared;
        if (seen != null) {
            seen.name.length();
        }
    }
}
