package org.photofinish.junit5;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** A test raced. The message has both accesses with their stacks. */
public final class RaceError extends AssertionError {
    private static final long serialVersionUID = 1;

    RaceError(String message) {
        super(message);
        // Where the race was noticed says nothing: the stacks are in the message.
        setStackTrace(new StackTraceElement[0]);
    }

    /** For the races of a test that are not allowed there; null if there are none. The method may be null. */
    static RaceError of(Class<?> test, Method method, List<Race> races) {
        List<String> texts = new ArrayList<>();
        for (Race race : races) {
            if (!AllowedRaces.allow(test, method, race.location())) texts.add(race.describe());
        }
        if (texts.isEmpty()) return null;
        String count = texts.size() == 1 ? "a data race" : texts.size() + " data races";
        String name = test == null ? "" : test.getName();
        if (method != null) name += "." + method.getName();
        return new RaceError(count + " in " + name + "\n\n" + String.join("\n\n", texts) + "\n");
    }
}
