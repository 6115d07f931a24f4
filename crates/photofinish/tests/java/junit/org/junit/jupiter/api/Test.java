package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Marks a test, as JUnit 5 names it: the real one is not everywhere at hand. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
