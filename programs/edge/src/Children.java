import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Starts another JVM and another program, and shows what they said. */
public final class Children {
    private Children() {}

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            Thread thread = new Thread(() -> System.out.println("child got " + args[0]));
            thread.start();
            thread.join();
            System.exit(5);
        }
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        show(List.of(java, "-cp", System.getProperty("java.class.path"), "Children", "a word"));
        show(List.of("/bin/echo", "echoed", "words"));
        Process old = Runtime.getRuntime().exec(new String[] {"/bin/echo", "the old way"});
        System.out.print(new String(old.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        System.out.println("exit " + old.waitFor());
        try {
            new ProcessBuilder("/nonexistent/program").start();
        } catch (IOException e) {
            System.out.println("no such program");
        }
    }

    private static void show(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        System.out.print(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        System.out.println("exit " + process.waitFor());
    }
}
