package org.photofinish.junit5;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.util.List;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * One test as a program of its own: it ends with the exception that failed the test. By JUnit's
 * launcher; {@link RunPlainTest} is for tests that do not need it.
 */
public final class RunTest {
    private RunTest() {}

    /** The test's unique id. */
    public static void main(String[] args) throws Throwable {
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(selectUniqueId(args[0])).build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        List<TestExecutionSummary.Failure> failures = summary.getFailures();
        if (!failures.isEmpty()) throw failures.get(0).getException();
        // Disabled, here or on this machine.
        if (summary.getTestsSkippedCount() + summary.getContainersSkippedCount() > 0) return;
        if (summary.getTestsStartedCount() == 0) throw new IllegalArgumentException("there is no test " + args[0]);
    }
}
