import java.io.IOException;

/** Waits for input that never comes, while another thread waits for that. */
public final class Reader {
    private Reader() {}

    public static void main(String[] args) throws Exception {
        Thread reader = new Thread(() -> {
            try {
                System.out.println("read " + System.in.read());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        reader.start();
        reader.join();
    }
}
