package org.photofinish.junit5;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the tests call that {@code photofinish export --junit} writes. */
public final class Regression {
    private Regression() {}

    /**
     * Fails if what was found then happens again: the schedule is followed, and where the program was changed so that
     * it cannot be, schedules near it are tried.
     *
     * @param resource the case and the schedule, without {@code .json} and {@code .pfs}
     * @param program what follows {@code java -cp CLASSPATH}: options, the main class, its arguments
     */
    public static void check(String resource, String... program) throws IOException, InterruptedException {
        Path dir = Files.createTempDirectory("photofinish");
        try {
            Path json = null;
            for (String kind : new String[] {".json", ".pfs"}) {
                Path copy = dir.resolve(resource.substring(resource.lastIndexOf('/') + 1) + kind);
                try (InputStream in = Regression.class.getResourceAsStream(resource + kind)) {
                    if (in == null) throw new IllegalStateException("there is no resource " + resource + kind);
                    Files.copy(in, copy);
                }
                if (json == null) json = copy;
            }
            Tool tool = Tool.find();
            Tool.Done done = tool.run(tool.regression(json, List.of(program)));
            if (done.code() == Tool.FOUND) throw new ScheduleError(done.report());
            if (done.code() != Tool.NOTHING_FOUND) {
                throw new IllegalStateException(
                        "no answer (photofinish ended with " + done.code() + "):\n" + done.report());
            }
            System.out.println(done.report());
        } finally {
            try (var files = Files.list(dir)) {
                for (Path file : (Iterable<Path>) files::iterator) Files.delete(file);
            }
            Files.delete(dir);
        }
    }
}
