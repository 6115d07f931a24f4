/** A thread calls System.exit while the main thread waits for ever. */
public final class ExitFromThread {
    static int prepared;

    private ExitFromThread() {}

    public static void main(String[] args) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook sees " + prepared)));
        Thread thread = new Thread(() -> {
            prepared = 42;
            System.exit(4);
        });
        thread.start();
        Thread.currentThread().join();
    }
}
