package org.photofinish.build;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Hunts for races, deadlocks and failures in each test as a program of its own, within a time that
 * the tests share. Time that one does not need goes to those after it.
 *
 * @param name of the project, for the page
 * @param java the JDK that runs the tests
 * @param classPath of the tests, with JUnit's launcher, its engines and photofinish-junit5
 * @param test which tests: a pattern of {@code com.shop.BankTest.moneyMoves}, in which * stands for anything
 * @param options further options of {@code photofinish hunt}, separated by spaces, or null
 * @param results where results are kept
 * @param site where the pages go
 */
public record Hunt(
        String name,
        Path base,
        Path java,
        String classPath,
        File testClasses,
        String test,
        long seconds,
        String options,
        Path results,
        Path site) {
    /** The least that a test gets: a hunt of a few runs. */
    private static final long LEAST_SECONDS = 10;

    /** JUnit's own accesses and locks are no business of a test's schedules. */
    private static final String LEFT_ALONE = "org.junit.**,org.opentest4j.**,org.photofinish.junit5.**";

    /** How the hunt of one test ended. */
    public record Hunted(TestProgram test, Verdict verdict, Duration took, String report) {
        /** One line for people. */
        public String line() {
            return test.name() + ": " + verdict.text() + " (" + took.toSeconds() + " s)";
        }
    }

    /** Is told of each test when its hunt has ended. */
    public interface Watch {
        void hunted(Hunted one);
    }

    /** What came of all of them. */
    public record Outcome(List<Hunted> all, Path index) {
        public boolean has(Verdict verdict) {
            return all.stream().anyMatch(one -> one.verdict() == verdict);
        }

        /** Whether at least one test has an answer, if nothing was found. */
        public boolean isAnswered() {
            return has(Verdict.NOTHING_FOUND) || has(Verdict.NOT_EXERCISED);
        }

        /** What was found, by test; empty if nothing was. */
        public String found() {
            List<Hunted> found = all.stream().filter(one -> one.verdict() == Verdict.FOUND).toList();
            if (found.isEmpty()) return "";
            StringBuilder text = new StringBuilder();
            text.append(found.size()).append(" of ").append(all.size());
            text.append(" tests have races or other failures (").append(index).append("):\n");
            for (Hunted one : found) {
                text.append('\n').append(one.test().name()).append('\n').append(summary(one.report()));
            }
            return text.toString();
        }
    }

    /** Hunts in every test that fits; the list of tests is empty if none does. */
    public Outcome run(Binary tool, Watch watch) throws ToolFailed {
        Pattern wanted = Pattern.compile(("\\Q" + test + "\\E").replace("*", "\\E.*\\Q"));
        List<TestProgram> tests = TestProgram.list(java, classPath, testClasses).stream()
                .filter(one -> wanted.matcher(one.name()).matches())
                .toList();
        List<Hunted> all = new ArrayList<>();
        Instant end = Instant.now().plusSeconds(seconds);
        for (TestProgram one : tests) {
            long left = Duration.between(Instant.now(), end).toSeconds();
            long share = Math.max(LEAST_SECONDS, left / (tests.size() - all.size()));
            Hunted hunted = left > 0
                    ? hunt(tool, one, share)
                    : new Hunted(one, Verdict.NO_ANSWER, Duration.ZERO, "there was no more time");
            watch.hunted(hunted);
            all.add(hunted);
        }
        return new Outcome(all, all.isEmpty() ? site : writeIndex(all));
    }

    private Hunted hunt(Binary tool, TestProgram one, long share) throws ToolFailed {
        Path kept = results.resolve(one.name());
        Path page = site.resolve(one.name() + ".html");
        try {
            Files.createDirectories(kept);
            Files.createDirectories(site);
        } catch (IOException e) {
            throw new ToolFailed("cannot make " + kept, e);
        }
        List<String> args = new ArrayList<>(List.of("hunt", "--no-config", "--color", "never"));
        args.addAll(List.of("--java", java.toString(), "--exclude", LEFT_ALONE, "--time-limit", share + "s"));
        args.addAll(List.of("--results", kept.toString(), "--html", page.toString()));
        args.addAll(List.of("--json", kept.resolve("result.json").toString()));
        if (options != null && !options.isBlank()) args.addAll(List.of(options.trim().split("\\s+")));
        args.add("--");
        args.addAll(one.program(classPath));
        Instant begin = Instant.now();
        Binary.Done done = tool.run(base, args.toArray(String[]::new));
        Duration took = Duration.between(begin, Instant.now());
        return new Hunted(one, Verdict.of(done.code()), took, done.output().trim());
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

    private Path writeIndex(List<Hunted> all) throws ToolFailed {
        StringBuilder page = new StringBuilder("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Photofinish</title>\n");
        page.append("<style>body{font:15px system-ui;margin:2em}td{padding:.2em 1em .2em 0}</style>\n<h1>")
                .append(escaped(name))
                .append("</h1>\n<table>\n");
        for (Hunted one : all) {
            String test = escaped(one.test().name());
            boolean hasPage = Files.exists(site.resolve(one.test().name() + ".html"));
            page.append("<tr><td>" + (hasPage ? "<a href=\"" + test + ".html\">" + test + "</a>" : test));
            page.append("<td>" + one.verdict().text() + "<td>" + one.took().toSeconds() + " s\n");
        }
        page.append("</table>\n");
        Path index = site.resolve("index.html");
        try {
            Files.createDirectories(site);
            return Files.writeString(index, page);
        } catch (IOException e) {
            throw new ToolFailed("cannot write " + index, e);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
