package org.photofinish.build;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.nio.file.attribute.PosixFilePermissions;

/** The command line tool: one that the user names, or the one that this jar carries. */
public final class Binary {
    private final Path path;

    private Binary(Path path) {
        this.path = path;
    }

    /** {@code named}: by the user, or null; {@code directory}: where ours is unpacked. */
    public static Binary find(Path named, Path directory) throws ToolFailed {
        if (named != null) {
            if (!Files.isExecutable(named)) {
                throw new ToolFailed(named + " is no program (photofinish.binary)");
            }
            return new Binary(named);
        }
        return new Binary(unpack(directory));
    }

    private static Path unpack(Path directory) throws ToolFailed {
        String resource = "/" + platform() + "/photofinish";
        try (InputStream in = Binary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new ToolFailed(
                        "there is no photofinish inside for " + platform() + "; name one (photofinish.binary)");
            }
            Files.createDirectories(directory);
            Path path = directory.resolve("photofinish");
            Path temporary = Files.createTempFile(directory, "photofinish", ".new");
            Files.copy(in, temporary, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
            // Modules that are built side by side may be doing the same.
            return Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new ToolFailed("cannot unpack photofinish into " + directory, e);
        }
    }

    private static String platform() {
        String arch = System.getProperty("os.arch");
        String name = Set.of("amd64", "x86_64").contains(arch) ? "x86_64" : arch;
        return System.getProperty("os.name").toLowerCase() + "-" + name;
    }

    public Path path() {
        return path;
    }

    /** What it prints on standard output; it must succeed. */
    public String ask(String... args) throws ToolFailed {
        Done done = run(null, args);
        if (done.code != 0) throw new ToolFailed(path + " failed: " + done.output.trim());
        return done.output.trim();
    }

    /** Runs it in a directory; its output, standard error with it. */
    public Done run(Path directory, String... args) throws ToolFailed {
        List<String> command = new ArrayList<>();
        command.add(path.toString());
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (directory != null) builder.directory(directory.toFile());
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Done(process.waitFor(), output);
        } catch (IOException e) {
            throw new ToolFailed("cannot run " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ToolFailed("interrupted", e);
        }
    }

    /** How it ended. */
    public record Done(int code, String output) {}
}
