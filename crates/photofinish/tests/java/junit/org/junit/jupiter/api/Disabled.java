package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Marks a test that is not run. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Disabled {}
