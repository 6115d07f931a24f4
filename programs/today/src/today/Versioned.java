package today;

/** In jars with several releases: the one for older JVMs. */
final class Versioned {
    static int shared;

    private Versioned() {}

    static String name() {
        shared++; // race: today
        return "plain";
    }
}
