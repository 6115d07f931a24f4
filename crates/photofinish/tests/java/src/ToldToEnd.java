import java.nio.file.Files;
import java.nio.file.Path;
import sun.misc.Signal;

/** Tells its own JVM to end wherever the other thread comes first, for as long as a file is there. */
public final class ToldToEnd {
    private static volatile int first;
    private static long steps;

    public static void main(String[] args) throws InterruptedException {
        boolean ends = Files.exists(Path.of(args[0]));
        Thread other = new Thread(() -> first = 2);
        other.start();
        int seen = first;
        if (ends && seen == 2) {
            Signal.raise(new Signal("TERM"));
            // The JVM ends meanwhile. Not by a loop that waits: that would be a deadlock.
            for (long n = 1; ; n = n * 31 + 7) steps = n;
        }
        other.join();
    }
}
