package org.photofinish.junit5;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** Repeats one schedule of the test that failed under {@link Schedules}, instead of trying others. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ExtendWith(SchedulesExtension.class)
public @interface Replay {
    /** Its name in the report, such as {@code D1}; or a file with a schedule ({@code .pfs}). */
    String value();
}
