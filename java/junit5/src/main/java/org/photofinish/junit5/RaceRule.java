package org.photofinish.junit5;

import java.lang.reflect.Method;
import java.util.List;
import org.junit.AssumptionViolatedException;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/**
 * For JUnit 4, where extensions are not found by themselves: {@code @Rule public RaceRule races = new
 * RaceRule();} fails a test in which threads raced, as {@link PhotofinishExtension} does. Without the agent
 * in the JVM it does nothing.
 */
public final class RaceRule implements TestRule {
    @Override
    public Statement apply(Statement base, Description description) {
        Findings findings = Findings.shared();
        if (findings == null) return base;
        return new Statement() {
            @Override
            public void evaluate() throws Throwable {
                int test = findings.begin();
                Agent.enter(test);
                Throwable failure = null;
                try {
                    base.evaluate();
                } catch (Throwable e) {
                    failure = e;
                }
                Agent.enter(0);
                RaceError races = error(description, findings.end(test));
                if (races != null && failure instanceof AssumptionViolatedException) {
                    // JUnit would call the test skipped, and nobody would see the race.
                    races.addSuppressed(failure);
                    failure = races;
                } else if (failure == null) failure = races;
                else if (races != null) failure.addSuppressed(races);
                if (failure != null) throw failure;
            }
        };
    }

    private static RaceError error(Description description, List<Race> races) {
        Class<?> test = description.getTestClass();
        return RaceError.of(test, method(test, description.getMethodName()), races);
    }

    /** The name has the parameters of the invocation at its end, if it has some. */
    private static Method method(Class<?> test, String name) {
        String plain = name == null ? "" : name.replaceFirst("\\[.*", "");
        for (Class<?> c = test; c != null; c = c.getSuperclass()) {
            for (Method method : c.getDeclaredMethods()) {
                if (method.getName().equals(plain) && method.getParameterCount() == 0) return method;
            }
        }
        return null;
    }
}
