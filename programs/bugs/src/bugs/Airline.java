package bugs;

/** Seats are sold as long as there are some: checked and sold in two steps. */
public final class Airline {
    private static final int SEATS = 3;
    private static volatile int sold;
    private static final Object LOCK = new Object();

    public static void main(String[] args) {
        Bugs.together(Bugs.times(SEATS + 2, Airline::buy));
        Bugs.check(sold <= SEATS, "sold " + sold);
    }

    private static void buy() {
        if (sold < SEATS) {
            synchronized (LOCK) {
                sold = sold + 1;
            }
        }
    }
}
