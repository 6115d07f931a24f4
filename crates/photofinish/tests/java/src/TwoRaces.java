/** Two threads that write two fields with nothing between them: both race in every run. */
final class TwoRaces {
    private static int left;
    private static int right;

    private TwoRaces() {}

    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(TwoRaces::count, "other");
        other.start();
        count();
        other.join();
    }

    private static void count() {
        left++;
        right++;
    }
}
