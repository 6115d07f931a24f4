package org.photofinish.junit5;

import static org.junit.platform.engine.discovery.ClassNameFilter.STANDARD_INCLUDE_PATTERN;
import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Lists the tests in a directory of classes, of all engines that are on the class path: a line each, with the
 * test's name, and the main class and arguments that run it alone, separated by tabs. Invocations of
 * parameterised tests are one test: they are not known before it runs.
 */
public final class ListTests {
    private ListTests() {}

    /** The directory. */
    public static void main(String[] args) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClasspathRoots(Set.of(Path.of(args[0]))))
                .filters(includeClassNamePatterns(STANDARD_INCLUDE_PATTERN))
                .build();
        TestPlan plan = LauncherFactory.create().discover(request);
        for (TestIdentifier root : plan.getRoots()) {
            for (TestIdentifier test : plan.getDescendants(root)) {
                if (test.getSource().orElse(null) instanceof MethodSource method) {
                    System.out.println(line(test, method));
                }
            }
        }
    }

    private static String line(TestIdentifier test, MethodSource source) {
        String name = source.getClassName() + "." + source.getMethodName();
        List<String> program = isPlain(test, source)
                ? List.of(RunPlainTest.class.getName(), source.getClassName(), source.getMethodName())
                : List.of(RunTest.class.getName(), test.getUniqueId());
        return name + "\t" + String.join("\t", program);
    }

    private static boolean isPlain(TestIdentifier test, MethodSource source) {
        // Of other engines: Jupiter, which the question is about, may not be there.
        if (!test.getUniqueId().startsWith("[engine:junit-jupiter]")) return false;
        Method method = source.getJavaMethod();
        return RunPlainTest.isPlain(source.getJavaClass(), method);
    }
}
