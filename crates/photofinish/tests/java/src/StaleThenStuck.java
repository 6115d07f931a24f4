import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Loses an update, without a data race. Runs are counted in a file; those after the third never end. */
final class StaleThenStuck {
    private static int count;

    private StaleThenStuck() {}

    private static synchronized int count() {
        return count;
    }

    private static synchronized void count(int to) {
        count = to;
    }

    public static void main(String[] args) throws Exception {
        Path runs = Path.of(args[0]);
        Files.write(runs, new byte[] {1}, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (Files.size(runs) > 3) {
            try (ServerSocket nobody = new ServerSocket(0)) {
                nobody.accept();
            }
        }
        Runnable visit = () -> count(count() + 1);
        Thread first = new Thread(visit);
        Thread second = new Thread(visit);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println(count());
    }
}
