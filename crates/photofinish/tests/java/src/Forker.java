import java.nio.file.Path;

/** Races a little and starts another JVM, which outlives it if it is asked to. */
public final class Forker {
    private static int shared;

    private Forker() {}

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> shared++, "other");
        other.start();
        shared++;
        other.join();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(java, "-version").inheritIO().start();
        System.exit(process.waitFor());
    }
}
