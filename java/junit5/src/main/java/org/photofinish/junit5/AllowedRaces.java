package org.photofinish.junit5;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** What {@link AllowRaces} allows. */
final class AllowedRaces {
    private AllowedRaces() {}

    /** By an annotation of the method, of its class, or of a class around it; either may be null. */
    static boolean allow(Class<?> test, Method method, String location) {
        for (String pattern : patterns(test, method)) {
            if (matches(pattern, location)) return true;
        }
        return false;
    }

    /** The same as lines of a file for {@code --suppress}. */
    static List<String> suppressions(Class<?> test, Method method) {
        List<String> lines = new ArrayList<>();
        for (String pattern : patterns(test, method)) lines.add("race " + pattern + " because @AllowRaces says so");
        return lines;
    }

    private static List<String> patterns(Class<?> test, Method method) {
        List<String> patterns = new ArrayList<>();
        if (method != null) add(patterns, method);
        for (Class<?> c = test; c != null; c = c.getEnclosingClass()) add(patterns, c);
        return patterns;
    }

    private static void add(List<String> patterns, AnnotatedElement element) {
        AllowRaces allowed = element.getAnnotation(AllowRaces.class);
        if (allowed == null) return;
        if (allowed.value().length == 0) patterns.add("*");
        for (String pattern : allowed.value()) patterns.add(pattern.trim());
    }

    /** A star stands for anything. */
    private static boolean matches(String pattern, String name) {
        String[] parts = pattern.split("\\*", -1);
        if (parts.length == 1) return name.equals(parts[0]);
        if (!name.startsWith(parts[0])) return false;
        int at = parts[0].length();
        for (int i = 1; i < parts.length - 1; i++) {
            int found = name.indexOf(parts[i], at);
            if (found < 0) return false;
            at = found + parts[i].length();
        }
        String last = parts[parts.length - 1];
        return name.length() - at >= last.length() && name.endsWith(last);
    }
}
