import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** Two threads print through streams of their own into one buffer: only its monitor orders them. */
public class SharedBytes {
    public static void main(String[] args) throws InterruptedException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            String name = "printer " + i;
            threads[i] = new Thread(() -> new PrintStream(bytes, true).print(name));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        if (bytes.toString().startsWith("printer 1")) throw new IllegalStateException("the other order");
    }
}
