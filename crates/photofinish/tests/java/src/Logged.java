/** An exception that the program catches, caused by a field whose name fields of the JDK have as well. */
public class Logged {
    static String name = "bob";

    static int length() {
        return name.length();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread reader = new Thread(Logged::read, "reader");
        Thread clearer = new Thread(() -> name = null, "clearer");
        reader.start();
        clearer.start();
        reader.join();
        clearer.join();
        System.out.println("done");
    }

    private static void read() {
        try {
            length();
        } catch (RuntimeException e) {
            System.out.println("logged");
        }
    }
}
