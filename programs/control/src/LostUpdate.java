/**
 * Two threads add to a plain field. Each of the two lines reads and writes it: whichever of the
 * lines begins, nothing is lost unless both read before either writes.
 */
public final class LostUpdate {
    private static int x;

    private LostUpdate() {}

    public static void main(String[] args) throws InterruptedException {
        Thread five = new Thread(() -> {
            x = x + 5;
        }, "five");
        Thread seventeen = new Thread(() -> {
            x = x + 17;
        }, "seventeen");
        five.start();
        seventeen.start();
        five.join();
        seventeen.join();
        System.out.println(x);
    }
}
