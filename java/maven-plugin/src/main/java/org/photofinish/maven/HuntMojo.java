package org.photofinish.maven;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.photofinish.build.Hunt;
import org.photofinish.build.ToolFailed;
import org.photofinish.build.Verdict;

/**
 * Hunts for races, deadlocks and failures in each test as a program of its own: other schedules of it are
 * predicted, explored and tried, within a time that the tests share. Time that one does not need goes to
 * those after it.
 */
@Mojo(name = "hunt", requiresDependencyResolution = ResolutionScope.TEST, threadSafe = true)
@Execute(phase = LifecyclePhase.TEST_COMPILE)
public final class HuntMojo extends PhotofinishMojo {
    @Component
    private RepositorySystem repositories;

    @Parameter(defaultValue = "${repositorySystemSession}", readonly = true, required = true)
    private RepositorySystemSession session;

    @Parameter(defaultValue = "${plugin.artifacts}", readonly = true, required = true)
    private List<Artifact> pluginArtifacts;

    @Parameter(defaultValue = "${project.build.testOutputDirectory}", readonly = true)
    private File testClasses;

    /** Seconds for all tests of a module together. */
    @Parameter(property = "photofinish.seconds", defaultValue = "600")
    private long seconds;

    /** Which tests: a pattern of {@code com.shop.BankTest.moneyMoves}, in which * stands for anything. */
    @Parameter(property = "photofinish.test", defaultValue = "*")
    private String test;

    /** Further options of `photofinish hunt`, separated by spaces. */
    @Parameter(property = "photofinish.options")
    private String options;

    /** Where the pages go. */
    @Parameter(property = "photofinish.huntSite", defaultValue = "${project.build.directory}/site/photofinish/hunt")
    private File site;

    /** Whether the build fails if something is found. */
    @Parameter(property = "photofinish.failIfFound", defaultValue = "true")
    private boolean failIfFound;

    @Override
    void run() throws ToolFailed, MojoExecutionException, MojoFailureException {
        if (!testClasses.isDirectory()) return;
        String classPath = new TestClassPath(project, repositories, session).find(runner());
        if (classPath == null) {
            getLog().info("there are no tests of JUnit here");
            return;
        }
        Path java = Path.of(System.getProperty("java.home"));
        Path results = directory.toPath().resolve("hunt");
        Hunt hunt = new Hunt(
                project.getName(), base(), java, classPath, testClasses, test, seconds, options, results, site.toPath());
        Hunt.Outcome outcome = hunt.run(tool(), this::tell);
        if (outcome.all().isEmpty()) throw new MojoFailureException("no test fits photofinish.test=" + test);
        String found = outcome.found();
        if (found.isEmpty()) {
            if (outcome.has(Verdict.FAILED)) throw new MojoExecutionException("photofinish failed, see above");
            if (!outcome.isAnswered()) {
                throw new MojoFailureException("no test has an answer: give photofinish.seconds more time");
            }
            return;
        }
        if (failIfFound) throw new MojoFailureException(found);
        getLog().warn(found);
    }

    private void tell(Hunt.Hunted one) {
        switch (one.verdict()) {
            case FAILED -> getLog().error(one.line() + "\n\n" + one.report());
            case NO_ANSWER -> getLog().warn(one.line());
            default -> getLog().info(one.line());
        }
    }

    /** The jar with the main classes that list tests and run one. */
    private File runner() throws MojoExecutionException {
        for (Artifact artifact : pluginArtifacts) {
            if (artifact.getArtifactId().equals("photofinish-junit5")) return artifact.getFile();
        }
        throw new MojoExecutionException("photofinish-junit5 is no dependency of this plugin");
    }
}
