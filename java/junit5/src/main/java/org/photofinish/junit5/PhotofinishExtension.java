package org.photofinish.junit5;

import java.util.List;
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
    private static final Findings FINDINGS = Findings.shared();

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
        RaceError error = RaceError.of(context.getTestClass().orElse(null), context.getTestMethod().orElse(null), races);
        if (error != null) throw error;
    }
}
