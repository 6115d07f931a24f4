import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** A program that looks how many processors there are, and starts another that looks as well. */
public final class Processors {
    private Processors() {}

    static int seenByAnother() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("nproc").start();
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            int count = Integer.parseInt(in.readLine().trim());
            process.waitFor();
            return count;
        }
    }

    public static void main(String[] args) throws Exception {
        int[] seen = new int[1];
        Thread worker = new Thread(() -> seen[0] = Runtime.getRuntime().availableProcessors());
        worker.start();
        worker.join();
        System.out.println("alike " + (seen[0] == seenByAnother()));
    }
}
