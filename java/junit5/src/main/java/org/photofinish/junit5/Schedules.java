package org.photofinish.junit5;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the test under a scheduler, with one thread at a time, again and again: a failed assertion, an
 * uncaught exception, a deadlock or a race in any of the schedules fails it, and the message says how to
 * repeat that schedule. JUnit's life cycle is that of any test, each time; parameterised, nested and
 * repeated tests work, each invocation with schedules of its own.
 *
 * <p>The executions are made by the photofinish tool in JVMs of its own, on the class path of this one.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@ExtendWith(SchedulesExtension.class)
public @interface Schedules {
    /** How many schedules are tried at most; fewer if one of them fails. */
    int value() default 100;

    /** Who decides which thread goes on: random, pct, pos. */
    String strategy() default "pos";

    /** The seed of the first schedule; the others count up from it. */
    long seed() default 1;

    /** Seconds for one schedule. */
    int seconds() default 60;

    /**
     * What reads that race may see: {@code sc}, the newest write, or {@code weak}, any that the Java memory model
     * allows. With {@code weak}, where no schedule fails, those races that the test allows are made to happen again,
     * with reads that see older values: an exception or a thread that never ends fails the test.
     */
    String memory() default "sc";
}
