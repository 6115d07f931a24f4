/**
 * A reader that does not wait for the writer. Run alone it is always too early, so that the usual
 * run is the one that fails, and the unusual order is the right one.
 */
public final class FailsUsually {
    private static int ready;

    private FailsUsually() {}

    public static void main(String[] args) throws InterruptedException {
        Thread reader = new Thread(() -> {
            int seen = ready;
            System.out.println(seen == 1 ? "ready" : "error: not ready");
        }, "reader");
        reader.start();
        Thread.sleep(300);
        ready = 1;
        reader.join();
    }
}
