package org.photofinish.maven;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.photofinish.build.Binary;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;
import org.photofinish.build.Verdict;

/** Fails the build if the tests raced; with a baseline, only on what is new. */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends PhotofinishMojo {
    /** A result (JSON) of an earlier build: what is known does not fail this one. */
    @Parameter(property = "photofinish.baseline")
    private File baseline;

    /** File of known races with their reasons. */
    @Parameter(property = "photofinish.suppress")
    private File suppress;

    /** From which status on a race fails the build: potential, predicted, observed, confirmed. */
    @Parameter(property = "photofinish.failOn", defaultValue = "predicted")
    private String failOn;

    /** Whether tests that start no thread fail the build. */
    @Parameter(property = "photofinish.failIfNotExercised", defaultValue = "false")
    private boolean failIfNotExercised;

    @Override
    void run() throws ToolFailed, MojoFailureException {
        if (jvms().isEmpty()) {
            checkWithoutJvms();
            return;
        }
        Jvms.Rules rules = new Jvms.Rules(failOn, baseline, suppress);
        Binary.Done done = jvms().check(tool(), rules, base(), directory.toPath().resolve("result.json"));
        String said = done.output().trim();
        switch (Verdict.of(done.code())) {
            case NOTHING_FOUND -> getLog().info(said);
            case NOT_EXERCISED -> {
                if (failIfNotExercised) throw new MojoFailureException(said);
                getLog().warn(said);
            }
            case FOUND -> throw new MojoFailureException("the tests raced:\n\n" + said);
            default -> throw new MojoFailureException(
                    "no answer (photofinish ended with " + done.code() + "):\n" + said);
        }
    }

    /** No JVM had the agent: there are no tests, they were skipped, or their command line leaves it out. */
    private void checkWithoutJvms() throws MojoFailureException {
        if (!Files.isDirectory(Path.of(project.getBuild().getTestOutputDirectory()))) {
            getLog().info("there are no tests");
            return;
        }
        String text = "no test ran under photofinish: is prepare-agent a goal, and does an argLine of your own "
                + "begin with @{argLine}?";
        if (failIfNotExercised) throw new MojoFailureException(text);
        getLog().warn(text);
    }
}
