package org.photofinish.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
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

/**
 * Hunts for races, deadlocks and failures in each test as a program of its own: other schedules of it are
 * predicted, explored and tried, within a time that the tests share. Time that one does not need goes to
 * those after it.
 */
@Mojo(name = "hunt", requiresDependencyResolution = ResolutionScope.TEST, threadSafe = true)
@Execute(phase = LifecyclePhase.TEST_COMPILE)
public final class HuntMojo extends PhotofinishMojo {
    /** The least that a test gets: a hunt of a few runs. */
    private static final long LEAST_SECONDS = 10;

    /** JUnit's own accesses and locks are no business of a test's schedules. */
    private static final String LEFT_ALONE = "org.junit.**,org.opentest4j.**,org.photofinish.junit5.**";

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

    /** How the hunt of one test ended. */
    private record Hunted(TestProgram test, Verdict verdict, Duration took, String report) {}

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (skip || !testClasses.isDirectory()) return;
        String classPath = new TestClassPath(project, repositories, session).find(runner());
        if (classPath == null) {
            getLog().info("there are no tests of JUnit here");
            return;
        }
        Path java = Path.of(System.getProperty("java.home"));
        Pattern wanted = Pattern.compile(("\\Q" + test + "\\E").replace("*", "\\E.*\\Q"));
        List<TestProgram> tests = new ArrayList<>();
        for (TestProgram one : TestProgram.list(java, classPath, testClasses)) {
            if (wanted.matcher(one.name()).matches()) tests.add(one);
        }
        if (tests.isEmpty()) throw new MojoFailureException("no test fits photofinish.test=" + test);
        List<Hunted> all = new ArrayList<>();
        Instant end = Instant.now().plusSeconds(seconds);
        for (TestProgram one : tests) {
            long left = Duration.between(Instant.now(), end).toSeconds();
            long share = Math.max(LEAST_SECONDS, left / (tests.size() - all.size()));
            Hunted hunted = left > 0
                    ? hunt(one, share, java, classPath)
                    : new Hunted(one, Verdict.NO_ANSWER, Duration.ZERO, "there was no more time");
            String line = one.name() + ": " + hunted.verdict().text() + " (" + hunted.took().toSeconds() + " s)";
            switch (hunted.verdict()) {
                case FAILED -> getLog().error(line + "\n\n" + hunted.report());
                case NO_ANSWER -> getLog().warn(line);
                default -> getLog().info(line);
            }
            all.add(hunted);
        }
        writeIndex(all);
        List<String> found = new ArrayList<>();
        for (Hunted hunted : all) {
            if (hunted.verdict() == Verdict.FOUND) found.add(hunted.test().name() + "\n" + summary(hunted.report()));
        }
        if (found.isEmpty()) {
            if (has(all, Verdict.FAILED)) throw new MojoExecutionException("photofinish failed, see above");
            boolean answered = has(all, Verdict.NOTHING_FOUND) || has(all, Verdict.NOT_EXERCISED);
            if (!answered) throw new MojoFailureException("no test has an answer: give photofinish.seconds more time");
            return;
        }
        String text = found.size() + " of " + all.size() + " tests have races or other failures ("
                + site.toPath().resolve("index.html") + "):\n\n" + String.join("\n", found);
        if (failIfFound) throw new MojoFailureException(text);
        getLog().warn(text);
    }

    private static boolean has(List<Hunted> all, Verdict verdict) {
        return all.stream().anyMatch(one -> one.verdict() == verdict);
    }

    /** What a hunt says last of what it found and of repairs; the pages have the whole. */
    private static String summary(String report) {
        StringBuilder text = new StringBuilder();
        boolean inside = false;
        for (String line : report.lines().toList()) {
            boolean begins = !line.isBlank() && !line.startsWith(" ");
            if (begins) inside = line.startsWith("certain ") || line.startsWith("likely ") || line.startsWith("repair ");
            if (inside) text.append("  ").append(line).append('\n');
        }
        return text.isEmpty() ? report + "\n" : text.toString();
    }

    /** The jar with the main classes that list tests and run one. */
    private File runner() throws MojoExecutionException {
        for (Artifact artifact : pluginArtifacts) {
            if (artifact.getArtifactId().equals("photofinish-junit5")) return artifact.getFile();
        }
        throw new MojoExecutionException("photofinish-junit5 is no dependency of this plugin");
    }

    private Hunted hunt(TestProgram one, long seconds, Path java, String classPath) throws MojoExecutionException {
        Path results = directory.toPath().resolve("hunt").resolve(one.name());
        Path page = site.toPath().resolve(one.name() + ".html");
        try {
            Files.createDirectories(results);
            Files.createDirectories(site.toPath());
        } catch (IOException e) {
            throw new MojoExecutionException("cannot make " + results, e);
        }
        List<String> args = new ArrayList<>(List.of("hunt", "--no-config", "--color", "never"));
        args.addAll(List.of("--java", java.toString(), "--exclude", LEFT_ALONE, "--time-limit", seconds + "s"));
        args.addAll(List.of("--results", results.toString(), "--html", page.toString()));
        args.addAll(List.of("--json", results.resolve("result.json").toString()));
        if (options != null && !options.isBlank()) args.addAll(List.of(options.trim().split("\\s+")));
        args.add("--");
        args.addAll(one.program(classPath));
        Instant begin = Instant.now();
        Binary.Done done = tool().run(project.getBasedir().toPath(), args.toArray(String[]::new));
        Duration took = Duration.between(begin, Instant.now());
        return new Hunted(one, Verdict.of(done.code()), took, done.output().trim());
    }

    private void writeIndex(List<Hunted> all) throws MojoExecutionException {
        StringBuilder page = new StringBuilder("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Photofinish</title>\n");
        page.append("<style>body{font:15px system-ui;margin:2em}td{padding:.2em 1em .2em 0}</style>\n<h1>")
                .append(escaped(project.getName()))
                .append("</h1>\n<table>\n");
        for (Hunted one : all) {
            String name = escaped(one.test().name());
            boolean hasPage = Files.exists(site.toPath().resolve(one.test().name() + ".html"));
            page.append("<tr><td>" + (hasPage ? "<a href=\"" + name + ".html\">" + name + "</a>" : name));
            page.append("<td>" + one.verdict().text() + "<td>" + one.took().toSeconds() + " s\n");
        }
        page.append("</table>\n");
        try {
            Files.writeString(site.toPath().resolve("index.html"), page);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot write into " + site, e);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
