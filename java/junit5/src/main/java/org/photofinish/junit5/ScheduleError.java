package org.photofinish.junit5;

/** A schedule of the test failed; the message is the report of it. */
public final class ScheduleError extends AssertionError {
    private static final long serialVersionUID = 1;

    ScheduleError(String message) {
        super(message);
        // It was another JVM that failed, and the report has its stacks.
        setStackTrace(new StackTraceElement[0]);
    }
}
