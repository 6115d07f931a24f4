package packed;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Run with -jar: reads a resource beside it and its own manifest. */
public final class Main {
    private static String text;

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        Thread reader = new Thread(() -> {
            try (InputStream in = Main.class.getResourceAsStream("/packed/greeting.txt")) {
                text = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
            } catch (IOException e) {
                text = "unreadable";
            }
        });
        reader.start();
        reader.join();
        System.out.println(text + " from " + Main.class.getPackage().getImplementationTitle() + " "
                + Main.class.getPackage().getImplementationVersion());
    }
}
