package org.photofinish.maven;

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
import org.apache.maven.plugin.MojoExecutionException;

/** The command line tool: one that the user names, or the one that this plugin carries. */
final class Binary {
    private final Path path;

    private Binary(Path path) {
        this.path = path;
    }

    /** {@code named}: by the user, or null; {@code directory}: where ours is unpacked. */
    static Binary find(Path named, Path directory) throws MojoExecutionException {
        if (named != null) {
            if (!Files.isExecutable(named)) {
                throw new MojoExecutionException(named + " is no program (photofinish.binary)");
            }
            return new Binary(named);
        }
        return new Binary(unpack(directory));
    }

    private static Path unpack(Path directory) throws MojoExecutionException {
        String resource = "/" + platform() + "/photofinish";
        try (InputStream in = Binary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new MojoExecutionException(
                        "this plugin has no photofinish for " + platform() + "; name one with -Dphotofinish.binary=");
            }
            Files.createDirectories(directory);
            Path path = directory.resolve("photofinish");
            Path temporary = Files.createTempFile(directory, "photofinish", ".new");
            Files.copy(in, temporary, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
            // Modules that are built side by side may be doing the same.
            return Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot unpack photofinish into " + directory, e);
        }
    }

    private static String platform() {
        String arch = System.getProperty("os.arch");
        String name = Set.of("amd64", "x86_64").contains(arch) ? "x86_64" : arch;
        return System.getProperty("os.name").toLowerCase() + "-" + name;
    }

    Path path() {
        return path;
    }

    /** What it prints on standard output; it must succeed. */
    String ask(String... args) throws MojoExecutionException {
        Done done = run(null, args);
        if (done.code != 0) throw new MojoExecutionException(path + " failed: " + done.output.trim());
        return done.output.trim();
    }

    /** Runs it in a directory; its output, standard error with it. */
    Done run(Path directory, String... args) throws MojoExecutionException {
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
            throw new MojoExecutionException("cannot run " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", e);
        }
    }

    /** How it ended. */
    record Done(int code, String output) {}
}
