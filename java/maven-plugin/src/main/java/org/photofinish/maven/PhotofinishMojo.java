package org.photofinish.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/** What all goals have in common. */
abstract class PhotofinishMojo extends AbstractMojo {
    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    /** The photofinish to use instead of the one in the plugin. */
    @Parameter(property = "photofinish.binary")
    File binary;

    /** Where everything is kept. */
    @Parameter(property = "photofinish.directory", defaultValue = "${project.build.directory}/photofinish")
    File directory;

    /** Do nothing. */
    @Parameter(property = "photofinish.skip", defaultValue = "false")
    boolean skip;

    final Binary tool() throws MojoExecutionException {
        return Binary.find(binary == null ? null : binary.toPath(), directory.toPath());
    }

    /** Where the JVMs of the tests leave what they find. */
    final Path jvms() {
        return directory.toPath().resolve("jvms");
    }

    /** Whether there are any: a module may have no tests, or they may run without the agent. */
    final boolean hasJvms() throws MojoExecutionException {
        if (!Files.isDirectory(jvms())) return false;
        try (Stream<Path> left = Files.list(jvms())) {
            return left.findAny().isPresent();
        } catch (IOException e) {
            throw new MojoExecutionException("cannot read " + jvms(), e);
        }
    }
}
