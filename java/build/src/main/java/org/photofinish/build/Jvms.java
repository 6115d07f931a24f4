package org.photofinish.build;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The directory in which the JVMs of the tests leave what they find, each in one of its own. */
public record Jvms(Path directory) {
    /** Makes it anew: what an earlier build left is of other classes. */
    public void clear() throws ToolFailed {
        try {
            if (Files.exists(directory)) {
                try (Stream<Path> all = Files.walk(directory)) {
                    for (Path path : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                        Files.delete(path);
                    }
                }
            }
            Files.createDirectories(directory);
        } catch (IOException | UncheckedIOException e) {
            throw new ToolFailed("cannot make " + directory, e);
        }
    }

    /** Whether no JVM had the agent: there are no tests, they were skipped, or run without it. */
    public boolean isEmpty() throws ToolFailed {
        if (!Files.isDirectory(directory)) return true;
        try (Stream<Path> left = Files.list(directory)) {
            return left.findAny().isEmpty();
        } catch (IOException e) {
            throw new ToolFailed("cannot read " + directory, e);
        }
    }

    /** What a JVM has to be started with, so that the agent is in it and the extension knows the tool. */
    public List<String> options(Binary tool) throws ToolFailed {
        String printed = tool.ask("agent-path", "--options", directory.toAbsolutePath().toString());
        // Paths may have spaces; every option begins with a dash.
        List<String> options = new ArrayList<>(List.of(printed.split(" (?=-)")));
        options.add("-Dphotofinish.binary=" + tool.path().toAbsolutePath());
        return options;
    }

    /**
     * Which findings count. {@code baseline} and {@code suppress} may be null.
     *
     * @param failOn from which status on: potential, predicted, observed, confirmed
     */
    public record Rules(String failOn, File baseline, File suppress) {}

    /** Judges what was found; the verdict is in the exit code. {@code base}: where the sources are. */
    public Binary.Done check(Binary tool, Rules rules, Path base, Path result) throws ToolFailed {
        List<String> args = new ArrayList<>(List.of("report", directory.toString(), "--no-config"));
        args.addAll(List.of("--fail-on", rules.failOn(), "--json", result.toString()));
        if (rules.baseline() != null) args.addAll(List.of("--baseline", rules.baseline().getPath()));
        if (rules.suppress() != null) args.addAll(List.of("--suppress", rules.suppress().getPath()));
        return tool.run(base, args.toArray(String[]::new));
    }

    /** Writes it as a page (HTML), for code scanning (SARIF) and as JSON; the page. */
    public Path report(Binary tool, Path base, Path out) throws ToolFailed {
        try {
            Files.createDirectories(out);
        } catch (IOException e) {
            throw new ToolFailed("cannot make " + out, e);
        }
        Path page = out.resolve("index.html");
        String[] args = {
            "report", directory.toString(), "--no-config", "--quiet",
            "--html", page.toString(),
            "--sarif", out.resolve("races.sarif").toString(),
            "--json", out.resolve("races.json").toString(),
        };
        Binary.Done done = tool.run(base, args);
        if (!Files.exists(page)) throw new ToolFailed("no report: " + done.output().trim());
        return page;
    }
}
