import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Shows its arguments and its standard input, counts both, and writes something to standard error. */
public final class Echo {
    private static int lines;

    private Echo() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        for (String arg : args) {
            System.out.println("[" + arg + "]");
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Thread reader = new Thread(() -> in.lines().forEach(line -> {
            lines++;
            System.out.println("> " + line);
        }));
        reader.start();
        reader.join();
        System.err.println("to standard error");
        System.out.println(args.length + " arguments, " + lines + " lines");
    }
}
