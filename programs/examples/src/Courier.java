/**
 * A courier delivers letters over a line that somebody else hangs up. Between
 * looking whether the line is there and using it, it may go away.
 *
 * <p>In practice the letters are long delivered when the line is hung up, so
 * the program works every day, until it does not.
 */
public final class Courier {
    /** Whoever takes the letters. */
    private static final class Line {
        void send(String letter) {
            if (letter.isEmpty()) {
                throw new IllegalArgumentException("an empty letter");
            }
        }
    }

    private Line line = new Line();

    /** The bug: the line is looked at twice, and nothing keeps it there. */
    void deliver(String letter) {
        if (line != null) { // race: Courier
            line.send(letter); // race: Courier
        }
    }

    void hangUp() {
        line = null; // race: Courier
    }

    public static void main(String[] args) throws InterruptedException {
        Courier courier = new Courier();
        Thread round = new Thread(() -> {
            courier.deliver("Dear Ada");
            courier.deliver("Dear Grace");
        }, "round");
        round.start();
        Thread.sleep(100);
        courier.hangUp();
        round.join();
        System.out.println("that was all for today");
    }
}
