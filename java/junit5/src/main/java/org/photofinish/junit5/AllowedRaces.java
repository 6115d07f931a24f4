package org.photofinish.junit5;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;

/** What {@link AllowRaces} allows. */
final class AllowedRaces {
    private AllowedRaces() {}

    /** By an annotation of the method, of its class, or of a class around it; either may be null. */
    static boolean allow(Class<?> test, Method method, String location) {
        if (method != null && allows(method, location)) return true;
        for (Class<?> c = test; c != null; c = c.getEnclosingClass()) {
            if (allows(c, location)) return true;
        }
        return false;
    }

    private static boolean allows(AnnotatedElement element, String location) {
        AllowRaces allowed = element.getAnnotation(AllowRaces.class);
        if (allowed == null) return false;
        if (allowed.value().length == 0) return true;
        for (String pattern : allowed.value()) {
            if (matches(pattern, location)) return true;
        }
        return false;
    }

    /** A star stands for anything. */
    private static boolean matches(String pattern, String name) {
        String[] parts = pattern.trim().split("\\*", -1);
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
