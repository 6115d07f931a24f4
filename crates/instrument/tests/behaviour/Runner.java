import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs the class in each directory below the first argument; prints a line for each. */
public class Runner {
    public static void main(String[] args) throws Exception {
        List<Path> all;
        try (var files = Files.list(Path.of(args[0]))) {
            all = files.sorted().toList();
        }
        for (Path dir : all) {
            String said;
            try (var loader = new URLClassLoader(new URL[] {dir.toUri().toURL()}, null)) {
                said = (String) loader.loadClass("Repaired").getMethod("all").invoke(null);
            } catch (ReflectiveOperationException | LinkageError e) {
                Throwable why = e.getCause() == null ? e : e.getCause();
                said = why.toString().replace('\n', ' ');
            }
            System.out.println(dir.getFileName() + ": " + said);
        }
    }
}
