/**
 * A field that is set to null while another thread uses it. The NullPointerException is caught two
 * calls further out and counted; nothing of it is printed.
 */
public final class Swallows {
    private static String name = "somebody";
    private static int swallowed;

    private Swallows() {}

    private static int length() {
        return name.length();
    }

    private static int measure() {
        return length() + 1;
    }

    private static void work() {
        try {
            measure();
        } catch (RuntimeException e) {
            swallowed++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread user = new Thread(Swallows::work, "user");
        user.start();
        Thread.sleep(300);
        name = null;
        user.join();
        System.out.println(swallowed < 2 ? "done" : "impossible");
    }
}
