import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Mostly input and output: four threads write and read files, and add up what they saw. The
 * argument is the number of files.
 */
public final class Files {
    private static final int BLOCK = 64 * 1024;
    private static final int BLOCKS = 32;

    private Files() {}

    static long copy(Path directory, int number) {
        Path file = directory.resolve("file" + number);
        byte[] block = new byte[BLOCK];
        CRC32 sum = new CRC32();
        try (RandomAccessFile data = new RandomAccessFile(file.toFile(), "rw")) {
            for (int i = 0; i < BLOCKS; i++) {
                block[i] = (byte) (number + i);
                data.write(block);
            }
            data.getFD().sync();
            data.seek(0);
            while (data.read(block) > 0) {
                sum.update(block);
            }
            java.nio.file.Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sum.getValue();
    }

    public static void main(String[] args) throws Exception {
        int files = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        Path directory = java.nio.file.Files.createTempDirectory("files");
        AtomicLong all = new AtomicLong();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<?>> jobs = new ArrayList<>();
        for (int i = 0; i < files; i++) {
            int number = i;
            jobs.add(pool.submit(() -> all.addAndGet(copy(directory, number))));
        }
        for (Future<?> job : jobs) {
            job.get();
        }
        pool.shutdown();
        java.nio.file.Files.delete(directory);
        System.out.println(all);
    }
}
