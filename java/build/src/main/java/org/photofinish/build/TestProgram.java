package org.photofinish.build;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A test, and how a JVM runs it alone. */
public record TestProgram(String name, List<String> main) {
    /** In photofinish-junit5, which the class path of the tests must have. */
    private static final String LIST = "org.photofinish.junit5.ListTests";

    /** All tests in a directory of classes, as a JVM with their class path sees them. */
    public static List<TestProgram> list(Path java, String classPath, File classes) throws ToolFailed {
        String launcher = java.resolve("bin/java").toString();
        ProcessBuilder builder = new ProcessBuilder(launcher, "-cp", classPath, LIST, classes.getPath());
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) throw new ToolFailed("the tests cannot be listed");
            List<TestProgram> tests = new ArrayList<>();
            for (String line : text.lines().toList()) {
                List<String> parts = List.of(line.split("\t"));
                // Whatever a test class prints when it is loaded is none.
                if (parts.size() > 2) tests.add(new TestProgram(parts.get(0), parts.subList(1, parts.size())));
            }
            return tests;
        } catch (IOException e) {
            throw new ToolFailed("cannot run " + launcher, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ToolFailed("interrupted", e);
        }
    }

    /** What follows {@code java}. */
    public List<String> program(String classPath) {
        List<String> all = new ArrayList<>(List.of("-ea", "-Dphotofinish.inside=true"));
        // As in photofinish-junit5's Tool: otherwise JVMs could not be used for more than one execution.
        all.add("-Dsun.reflect.inflationThreshold=" + Integer.MAX_VALUE);
        all.addAll(List.of("-cp", classPath));
        all.addAll(main);
        return all;
    }
}
