package org.photofinish.gradle;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.photofinish.build.Hunt;
import org.photofinish.build.ToolFailed;
import org.photofinish.build.Verdict;

/** Hunts for races, deadlocks and failures in each test as a program of its own. */
public class PhotofinishHunt extends PhotofinishTask {
    private static final String LAUNCHER = "junit-platform-launcher";

    String projectName;
    FileCollection classPath;
    FileCollection testClasses;
    String test;
    long seconds;
    String options;
    boolean failIfFound;
    File site;

    @Override
    void run() throws ToolFailed {
        if (this.classPath == null) {
            getLogger().lifecycle("there are no tests here");
            return;
        }
        String classPath = this.classPath.getAsPath();
        if (!classPath.contains(LAUNCHER)) {
            throw new GradleException("the hunt starts tests by JUnit's launcher: add it to the dependencies, "
                    + "testRuntimeOnly(\"org.junit.platform:" + LAUNCHER + "\")");
        }
        classPath += File.pathSeparator + runner();
        Path java = Path.of(System.getProperty("java.home"));
        for (File classes : testClasses) {
            if (classes.isDirectory()) hunt(java, classPath, classes);
        }
    }

    private void hunt(Path java, String classPath, File classes) throws ToolFailed {
        Path results = settings.directory().toPath().resolve("hunt");
        Hunt hunt = new Hunt(
                projectName, settings.base().toPath(), java, classPath, classes, test, seconds, options, results, site.toPath());
        Hunt.Outcome outcome = hunt.run(settings.tool(), one -> getLogger().lifecycle(one.line()));
        if (outcome.all().isEmpty()) throw new GradleException("no test fits photofinish.test = " + test);
        String found = outcome.found();
        if (found.isEmpty()) {
            if (outcome.has(Verdict.FAILED)) throw new GradleException("photofinish failed, see " + outcome.index());
            if (!outcome.isAnswered()) throw new GradleException("no test has an answer: give photofinish.seconds more time");
            return;
        }
        if (failIfFound) throw new GradleException(found);
        getLogger().warn(found);
    }

    /** The jar with the main classes that list tests and run one: a dependency of this plugin. */
    private static Path runner() throws ToolFailed {
        try {
            Class<?> inside = Class.forName("org.photofinish.junit5.ListTests", false, PhotofinishHunt.class.getClassLoader());
            CodeSource source = inside.getProtectionDomain().getCodeSource();
            return Path.of(source.getLocation().toURI());
        } catch (ReflectiveOperationException | URISyntaxException e) {
            throw new ToolFailed("photofinish-junit5 is no dependency of this plugin", e);
        }
    }
}
