package bugs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A task is handed in while the executor is shut down. */
public final class Shutdown {
    public static void main(String[] args) {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Bugs.together(
                () -> {
                    if (!pool.isShutdown()) {
                        pool.execute(() -> {});
                    }
                },
                pool::shutdown);
    }
}
