package org.photofinish.maven;

import java.io.File;
import java.nio.file.Path;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.photofinish.build.Binary;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;

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

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) return;
        try {
            run();
        } catch (ToolFailed e) {
            throw new MojoExecutionException(e.getMessage(), e);
        }
    }

    abstract void run() throws ToolFailed, MojoExecutionException, MojoFailureException;

    final Binary tool() throws ToolFailed {
        return Binary.find(binary == null ? null : binary.toPath(), directory.toPath());
    }

    final Jvms jvms() {
        return new Jvms(directory.toPath().resolve("jvms"));
    }

    final Path base() {
        return project.getBasedir().toPath();
    }
}
