/**
 * Two races side by side. Nothing comes of the one on `noted`, which both threads set to the same
 * value; the one on `name` ends the taker. Between the two nobody waits.
 */
public final class Neighbours {
    private static boolean noted;
    private static String name;

    private Neighbours() {}

    private static void give() {
        noted = true;
        name = "x";
    }

    private static void take() {
        try {
            // So that it usually goes well.
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        noted = true;
        if (name == null) throw new IllegalStateException("nobody gave a name");
    }

    public static void main(String[] args) throws InterruptedException {
        Thread giver = new Thread(Neighbours::give, "giver");
        Thread taker = new Thread(Neighbours::take, "taker");
        giver.start();
        taker.start();
        giver.join();
        taker.join();
    }
}
