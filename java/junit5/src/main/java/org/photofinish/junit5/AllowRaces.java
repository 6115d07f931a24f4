package org.photofinish.junit5;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Races in this test, or in the tests of this class, do not fail it. The result still has them. */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface AllowRaces {
    /** Fields whose races are allowed, such as {@code com.shop.Stats.*}; none: all. */
    String[] value() default {};

    /** Why they do no harm. */
    String because() default "";
}
