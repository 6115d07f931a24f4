package bugs;

/** Four stations pass a token: one that has waited for long makes a new one. */
public final class TokenRing {
    private static final int STATIONS = 4;
    private static volatile int holder;
    private static volatile boolean lost = true;
    private static volatile int made;

    public static void main(String[] args) {
        Bugs.together(Bugs.times(STATIONS, TokenRing::station));
        Bugs.check(made <= 1, "tokens: " + made);
    }

    private static void station() {
        if (lost) {
            lost = false;
            made = made + 1;
        }
        holder = (holder + 1) % STATIONS;
    }
}
