package org.photofinish.maven;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Gives the JVMs that run the tests the agent, by the property {@code argLine}, which Surefire and
 * Failsafe add to their command lines. What is in it already stays: JaCoCo's agent, for example.
 */
@Mojo(name = "prepare-agent", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareAgentMojo extends PhotofinishMojo {
    /** The property that is set. */
    @Parameter(property = "photofinish.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    public void execute() throws MojoExecutionException {
        if (skip) return;
        Binary tool = tool();
        try {
            delete(jvms());
            Files.createDirectories(jvms());
        } catch (IOException | UncheckedIOException e) {
            throw new MojoExecutionException("cannot make " + jvms(), e);
        }
        String options = tool.ask("agent-path", "--options", jvms().toAbsolutePath().toString());
        options += " -Dphotofinish.binary=" + quoted(tool.path().toAbsolutePath());
        Properties properties = project.getProperties();
        String before = properties.getProperty(propertyName);
        String after = before == null || before.isBlank() ? options : options + " " + before;
        properties.setProperty(propertyName, after);
        getLog().info(propertyName + " set to " + after);
    }

    private static String quoted(Path path) {
        String text = path.toString();
        return text.contains(" ") ? "'" + text + "'" : text;
    }

    /** What an earlier build left. */
    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) return;
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }
}
