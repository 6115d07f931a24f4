/** Races a little and prints a lot. */
public final class Flood {
    private static int shared;

    private Flood() {}

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> shared++, "other");
        other.start();
        shared++;
        other.join();
        String line = "x".repeat(1023) + "\n";
        for (int i = 0; i < 20_000; i++) {
            System.out.print(line);
        }
        System.out.flush();
    }
}
