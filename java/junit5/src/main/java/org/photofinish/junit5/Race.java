package org.photofinish.junit5;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A race, as the agent wrote it down. */
final class Race {
    private final Object line;

    private Race(Object line) {
        this.line = line;
    }

    /** The race of a line of findings.jsonl; null if the line is about something else. */
    static Race read(String text) {
        Object line = Json.parse(text);
        return Json.text(line, "kind").equals("race") ? new Race(line) : null;
    }

    /** What raced: {@code com.shop.Bank.total}, {@code int[]}. */
    String location() {
        Object location = Json.get(line, "location");
        String array = Json.text(location, "array");
        if (array.isEmpty()) return Json.text(location, "class") + "." + Json.text(location, "field");
        String from = Json.text(location, "from");
        return from.isEmpty() ? array : from;
    }

    /** The tests that the two threads worked for. */
    Set<Integer> tests() {
        Set<Integer> tests = new LinkedHashSet<>();
        for (Object access : Json.list(line, "accesses")) {
            int test = Json.number(Json.get(access, "thread"), "test");
            if (test != 0) tests.add(test);
        }
        return tests;
    }

    /** Both accesses with their stacks. */
    String describe() {
        StringBuilder out = new StringBuilder("race on " + location());
        for (Object access : Json.list(line, "accesses")) {
            out.append("\n  ").append(Json.text(access, "op"));
            out.append(" by thread \"").append(Json.text(Json.get(access, "thread"), "name")).append('"');
            out.append(locks(access));
            List<?> stack = Json.list(access, "stack");
            List<Object> frames = new ArrayList<>(stack);
            if (frames.isEmpty()) frames.add(Json.get(access, "frame"));
            for (Object frame : frames) {
                String name = name(frame);
                if (isFramework(name)) break;
                if (name.contains("$$Lambda")) continue;
                out.append("\n      at ").append(name).append('(').append(place(frame)).append(')');
            }
        }
        return out.toString();
    }

    /**
     * What one repair mends, roughly: the field; inside the JDK the program's calls that led there, since a
     * map that two threads share races in many of its fields.
     */
    String key() {
        if (!isJdk(location())) return location();
        StringBuilder key = new StringBuilder();
        for (Object access : Json.list(line, "accesses")) {
            for (Object frame : Json.list(access, "stack")) {
                String name = name(frame);
                if (isJdk(name)) continue;
                key.append(name).append(place(frame)).append(' ');
                break;
            }
        }
        return key.isEmpty() ? location() : key.toString();
    }

    private static String name(Object frame) {
        return Json.text(frame, "class") + "." + Json.text(frame, "method");
    }

    private static boolean isJdk(String name) {
        return name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.");
    }

    private static String place(Object frame) {
        String file = Json.text(frame, "file");
        int line = Json.number(frame, "line");
        return file.isEmpty() ? "Unknown Source" : line == 0 ? file : file + ":" + line;
    }

    private static String locks(Object access) {
        if (!(Json.get(access, "locks") instanceof List<?> locks)) return "";
        if (locks.isEmpty()) return ", holding no lock";
        List<String> names = new ArrayList<>();
        for (Object lock : locks) names.add(String.valueOf(lock));
        return ", holding " + String.join(", ", names);
    }

    /** Below the test method is the framework, which nobody wants to see. */
    private static boolean isFramework(String method) {
        return method.startsWith("org.junit.")
                || method.equals("java.lang.Thread.run")
                || method.startsWith("jdk.internal.reflect.")
                || method.equals("java.lang.reflect.Method.invoke");
    }
}
