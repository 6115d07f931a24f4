package org.photofinish.junit5;

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

    private static void instead(Invocation<Void> invocation, Method method, ExtensionContext context)
            throws Throwable {
        if (System.getProperty(Agent.INSIDE) != null) {
            invocation.proceed();
            return;
        }
        invocation.skip();
        Tool tool = Tool.find();
        Replay replay = method.getAnnotation(Replay.class);
        Schedules schedules = method.getAnnotation(Schedules.class);
        List<String> command = replay != null
                ? tool.replay(context, replay.value())
                : tool.schedules(context, schedules);
        Tool.Done done = tool.run(command);
        if (done.code() == Tool.FOUND) {
            boolean allowed = method.isAnnotationPresent(AllowRaces.class);
            if (!allowed || !done.isRacesOnly()) throw new ScheduleError(done.report());
        } else if (done.code() != Tool.NOTHING_FOUND) {
            throw new IllegalStateException(
                    "no answer about the schedules of " + method.getName() + " (photofinish ended with "
                            + done.code() + "):\n" + done.report());
        }
    }
}
