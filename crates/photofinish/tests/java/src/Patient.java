/** Has a race, says so, and then waits to be ended by somebody. */
final class Patient {
    static int shared;

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> shared++, "other");
        other.start();
        shared++;
        other.join();
        System.out.println("raced");
        if (args.length > 0 && args[0].equals("stubborn")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> sleep()));
        }
        sleep();
    }

    private static void sleep() {
        try {
            Thread.sleep(120_000);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
