package org.photofinish.junit5;

import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test in which threads raced, with both stacks in the message. Each invocation of a repeated
 * or parameterised test is one of its own. Races outside of tests, such as in {@code @BeforeAll}, fail
 * the class. Without the agent in the JVM it does nothing.
 */
public final class PhotofinishExtension implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final Namespace NAMESPACE = Namespace.create(PhotofinishExtension.class);
    private static final Findings FINDINGS = Agent.isThere() ? new Findings(Agent.directory()) : null;

    @Override
    public void beforeEach(ExtensionContext context) {
        if (FINDINGS == null) return;
        int test = FINDINGS.begin();
        context.getStore(NAMESPACE).put("test", test);
        Agent.enter(test);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (FINDINGS == null) return;
        Integer test = context.getStore(NAMESPACE).remove("test", Integer.class);
        if (test == null) return;
        Agent.enter(0);
        fail(context, FINDINGS.end(test));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (FINDINGS != null) fail(context, FINDINGS.rest());
    }

    private static void fail(ExtensionContext context, List<Race> races) {
        List<String> texts = new ArrayList<>();
        for (Race race : races) {
            if (!isAllowed(context, race.location())) texts.add(race.describe());
        }
        if (texts.isEmpty()) return;
        String count = texts.size() == 1 ? "a data race" : texts.size() + " data races";
        throw new RaceError(count + " in " + name(context) + "\n\n" + String.join("\n\n", texts) + "\n");
    }

    private static String name(ExtensionContext context) {
        String test = context.getTestClass().map(Class::getName).orElse("");
        return context.getTestMethod().map(m -> test + "." + m.getName()).orElse(test);
    }

    /** By an annotation of the method, of its class, or of a class around it. */
    private static boolean isAllowed(ExtensionContext context, String location) {
        if (context.getTestMethod().filter(m -> allows(m, location)).isPresent()) return true;
        Optional<Class<?>> test = context.getTestClass();
        for (Class<?> c = test.orElse(null); c != null; c = c.getEnclosingClass()) {
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
