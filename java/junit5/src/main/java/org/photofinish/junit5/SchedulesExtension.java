package org.photofinish.junit5;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** What {@link Schedules} and {@link Replay} do instead of running the test method here. */
final class SchedulesExtension implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> called, ExtensionContext context)
            throws Throwable {
        instead(invocation, called.getExecutable(), context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> called, ExtensionContext context)
            throws Throwable {
        instead(invocation, called.getExecutable(), context);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T interceptTestFactoryMethod(
            Invocation<T> invocation, ReflectiveInvocationContext<Method> called, ExtensionContext context)
            throws Throwable {
        if (isInside()) return invocation.proceed();
        // The dynamic tests ran in the tool's JVMs; what the factory answers here may be any collection.
        explore(invocation, called.getExecutable(), context);
        return (T) List.of();
    }

    private static void instead(Invocation<Void> invocation, Method method, ExtensionContext context)
            throws Throwable {
        if (isInside()) invocation.proceed();
        else explore(invocation, method, context);
    }

    private static boolean isWeak(Schedules schedules) {
        return switch (schedules.memory()) {
            case "sc" -> false;
            case "weak" -> true;
            default -> throw new IllegalArgumentException(
                    "@Schedules(memory = \"" + schedules.memory() + "\"): it is sc or weak");
        };
    }

    /** Whether this is one of the tool's JVMs. */
    private static boolean isInside() {
        return System.getProperty(Agent.INSIDE) != null;
    }

    private static void explore(Invocation<?> invocation, Method method, ExtensionContext context)
            throws IOException, InterruptedException {
        invocation.skip();
        Tool tool = Tool.find();
        Replay replay = method.getAnnotation(Replay.class);
        Schedules schedules = method.getAnnotation(Schedules.class);
        Tool.Done done = replay != null
                ? tool.replay(context, replay.value())
                : tool.schedules(context, schedules);
        if (replay == null && done.code() == Tool.NOTHING_FOUND && isWeak(schedules)) {
            done = tool.olderValues(context, schedules);
        }
        if (done.code() == Tool.FOUND) throw new ScheduleError(done.report());
        if (done.code() != Tool.NOTHING_FOUND) {
            throw new IllegalStateException(
                    "no answer about the schedules of " + method.getName() + " (photofinish ended with "
                            + done.code() + "):\n" + done.report());
        }
    }
}
