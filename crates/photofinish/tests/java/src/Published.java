/** A flag is set before the data is there; the data is written by a method that is called. */
public class Published {
    private static volatile boolean isReady;
    private static int data;

    private static void fill(int value) {
        data = value; // the write that races
    }

    private static void publish() {
        isReady = true; // too early
        fill(42);
    }

    public static void main(String[] args) throws Exception {
        Thread writer = new Thread(Published::publish);
        writer.start();
        if (isReady) {
            System.out.println(data);
        }
        writer.join();
    }
}
