package org.photofinish.junit5;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The photofinish tool, which makes executions of a test in JVMs of its own. The Maven plugin says where
 * it is ({@code photofinish.binary}); otherwise it is looked for on the PATH.
 */
final class Tool {
    static final int NOTHING_FOUND = 0;
    static final int FOUND = 66;

    /** Results of trials that fail a test. */
    private static final Set<String> HARM = Set.of("exception", "deadlock", "livelock");

    /** Trials of each race in which reads may see older values; the tool makes no more than a few of them. */
    private static final int MOST_TRIALS = 20;

    /** JUnit's own accesses and locks are no business of a test's schedules. */
    private static final String LEFT_ALONE = "org.junit.**,org.opentest4j.**,org.photofinish.junit5.**";

    /** Classes of jars that the JVM needs, which are not always on the class path that it tells. */
    private static final String[] NEEDED = {
        "org.photofinish.junit5.RunTest",
        "org.junit.platform.launcher.Launcher",
        "org.junit.platform.engine.TestEngine",
        "org.junit.platform.commons.util.StringUtils",
        "org.junit.jupiter.engine.JupiterTestEngine",
        "org.junit.jupiter.api.Test",
        "org.junit.jupiter.params.ParameterizedTest",
        "org.opentest4j.AssertionFailedError",
    };

    private final Path path;

    private Tool(Path path) {
        this.path = path;
    }

    static Tool find() {
        String named = System.getProperty("photofinish.binary");
        if (named != null) return new Tool(Path.of(named));
        for (String dir : String.valueOf(System.getenv("PATH")).split(File.pathSeparator)) {
            Path path = Path.of(dir, "photofinish");
            if (Files.isExecutable(path)) return new Tool(path);
        }
        throw new IllegalStateException(
                "this test needs the photofinish tool: put it on the PATH, name it with"
                        + " -Dphotofinish.binary=, or use photofinish-maven-plugin");
    }

    Done schedules(ExtensionContext test, Schedules how) throws IOException, InterruptedException {
        List<String> command = command("detect");
        command.addAll(List.of("--scheduler", how.strategy(), "--runs", "" + how.value()));
        command.addAll(List.of("--seed", "" + how.seed(), "--time-limit", how.seconds() + "s"));
        command.addAll(List.of("--results", results(test)));
        return runTest(command, test);
    }

    /**
     * Trials in which reads see older values. The races that the test allows are looked at like any other: it fails
     * by what comes of them, or by a race that it does not allow.
     */
    Done olderValues(ExtensionContext test, Schedules how) throws IOException, InterruptedException {
        Path json = Files.createTempFile("photofinish", ".json");
        Path known = Files.createTempFile("photofinish", ".txt");
        try {
            int trials = Math.min(how.value(), MOST_TRIALS);
            List<String> command = command("confirm");
            command.addAll(List.of("--memory", "weak", "--trials", "" + trials, "--seed", "" + how.seed()));
            command.addAll(List.of("--json", json.toString(), "--results", results(test)));
            Done tried = run(program(command, test));
            if (tried.code() != FOUND || hasHarm(Json.parse(Files.readString(json)))) return tried;
            Files.write(
                    known, AllowedRaces.suppressions(test.getRequiredTestClass(), test.getRequiredTestMethod()));
            List<String> report = List.of(path.toString(), "report", "--no-config", "--color", "never");
            List<String> others = new ArrayList<>(report);
            others.addAll(List.of("--suppress", known.toString(), json.toString()));
            return run(others);
        } finally {
            Files.delete(json);
            Files.delete(known);
        }
    }

    /** Whether an older value led to more than another output. */
    private static boolean hasHarm(Object report) {
        for (Object race : Json.list(report, "races")) {
            for (Object member : members(race)) {
                for (Object outcome : Json.list(member, "outcomes")) {
                    boolean isHarm = HARM.contains(Json.text(outcome, "result"));
                    if (isHarm && !Json.list(outcome, "memory").isEmpty()) return true;
                }
            }
        }
        return false;
    }

    /** The race that leads a finding, and the others of it. */
    private static List<Object> members(Object race) {
        List<Object> members = new ArrayList<>(Json.list(Json.get(race, "group"), "members"));
        members.add(race);
        return members;
    }

    Done replay(ExtensionContext test, String schedule) throws IOException, InterruptedException {
        List<String> command = command("replay");
        if (schedule.endsWith(".pfs")) {
            command.addAll(List.of("--log", schedule));
        } else {
            command.addAll(List.of("--results", results(test), schedule));
        }
        return runTest(command, test);
    }

    /** Races that the test allows are suppressed, so they do not count for the verdict. */
    private Done runTest(List<String> command, ExtensionContext test) throws IOException, InterruptedException {
        List<String> allowed =
                AllowedRaces.suppressions(test.getRequiredTestClass(), test.getRequiredTestMethod());
        if (allowed.isEmpty()) return run(program(command, test));
        Path file = Files.createTempFile("photofinish", ".txt");
        try {
            Files.write(file, allowed);
            command.addAll(List.of("--suppress", file.toString()));
            return run(program(command, test));
        } finally {
            Files.delete(file);
        }
    }

    /** Whether what an exported test is about happens again. */
    List<String> regression(Path json, List<String> program) {
        List<String> command = command("replay");
        command.addAll(List.of("--case", json.toString(), "--", "-cp", classPath()));
        command.addAll(program);
        return command;
    }

    /** Each test has its own, so that another one does not change what D1 means. */
    private static String results(ExtensionContext test) {
        Path build = Path.of("target");
        Path root = Files.isDirectory(build) ? build.resolve("photofinish") : Path.of(".photofinish");
        String name = test.getRequiredTestClass().getName() + "." + test.getRequiredTestMethod().getName();
        return root.resolve("schedules").resolve(name).toString();
    }

    private List<String> command(String name) {
        List<String> all = List.of(path.toString(), name, "--no-config", "--color", "never");
        List<String> command = new ArrayList<>(all);
        command.addAll(List.of("--java", System.getProperty("java.home"), "--exclude", LEFT_ALONE));
        return command;
    }

    private static List<String> program(List<String> command, ExtensionContext context) {
        command.addAll(List.of("--", "-ea", "-D" + Agent.INSIDE + "=true"));
        // Otherwise JDK 17 makes class loaders for methods that are called often by reflection, and a JVM
        // could not be used for more than one execution.
        command.add("-Dsun.reflect.inflationThreshold=" + Integer.MAX_VALUE);
        command.addAll(List.of("-cp", classPath()));
        Class<?> test = context.getRequiredTestClass();
        Method method = context.getRequiredTestMethod();
        command.addAll(
                RunPlainTest.isPlain(test, method)
                        ? List.of(RunPlainTest.class.getName(), test.getName(), method.getName())
                        : List.of(RunTest.class.getName(), context.getUniqueId()));
        return command;
    }

    private static String classPath() {
        Set<String> entries = new LinkedHashSet<>(
                List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
        for (String name : NEEDED) {
            String entry = source(name);
            if (entry != null) entries.add(entry);
        }
        return String.join(File.pathSeparator, entries);
    }

    /** The jar or directory that a class is from; null if there is no such class. */
    private static String source(String name) {
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            CodeSource source = Class.forName(name, false, loader).getProtectionDomain().getCodeSource();
            return source == null ? null : Path.of(source.getLocation().toURI()).toString();
        } catch (ClassNotFoundException | URISyntaxException e) {
            return null;
        }
    }

    Done run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // Its JVMs have the agent of their own.
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Done(process.waitFor(), output.strip());
    }

    /** How it ended, and what it said. */
    record Done(int code, String report) {}
}
