package org.photofinish.junit5;

/** A test raced. The message has both accesses with their stacks. */
public final class RaceError extends AssertionError {
    private static final long serialVersionUID = 1;

    RaceError(String message) {
        super(message);
        // Where the race was noticed says nothing: the stacks are in the message.
        setStackTrace(new StackTraceElement[0]);
    }
}
