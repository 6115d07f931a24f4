package org.photofinish.junit5;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.opentest4j.TestAbortedException;

/**
 * A plain test as a program of its own: constructor, {@code @BeforeAll}, {@code @BeforeEach}, the method,
 * {@code @AfterEach}, {@code @AfterAll}, and nothing else. JUnit's launcher loads a thousand classes and
 * would take more time than thousands of schedules; a test that nothing of it changes can do without.
 */
public final class RunPlainTest {
    private static final List<Class<? extends Annotation>> LIFE_CYCLE =
            List.of(BeforeAll.class, BeforeEach.class, AfterEach.class, AfterAll.class);

    private RunPlainTest() {}

    /** Whether the life cycle above is all that JUnit would do. */
    static boolean isPlain(Class<?> test, Method method) {
        if (!method.isAnnotationPresent(Test.class) || method.getParameterCount() > 0) return false;
        if (test.getEnclosingClass() != null || test.isAnnotationPresent(Nested.class)) return false;
        if (isExtended(method)) return false;
        for (Class<?> c = test; c != Object.class; c = c.getSuperclass()) {
            if (c.getInterfaces().length > 0 || isExtended(c)) return false;
            for (Field field : c.getDeclaredFields()) {
                if (field.isAnnotationPresent(RegisterExtension.class) || isExtended(field)) return false;
            }
        }
        if (!isLifeCyclePlain(test)) return false;
        Constructor<?>[] constructors = test.getDeclaredConstructors();
        return constructors.length == 1 && constructors[0].getParameterCount() == 0;
    }

    /**
     * Whether each method of the life cycle is called once, in an order that superclasses give: no parameters, none
     * overridden, one of a kind in a class, and those for the whole class static.
     */
    private static boolean isLifeCyclePlain(Class<?> test) {
        Set<String> kinds = new HashSet<>();
        Map<String, Integer> declared = new HashMap<>();
        Set<String> names = new HashSet<>();
        for (Class<?> c = test; c != Object.class; c = c.getSuperclass()) {
            for (Method method : c.getDeclaredMethods()) {
                if (method.getParameterCount() == 0) declared.merge(method.getName(), 1, Integer::sum);
                for (Class<? extends Annotation> kind : LIFE_CYCLE) {
                    if (!method.isAnnotationPresent(kind)) continue;
                    boolean isForClass = kind == BeforeAll.class || kind == AfterAll.class;
                    if (isForClass && !Modifier.isStatic(method.getModifiers())) return false;
                    if (method.getParameterCount() > 0 || !kinds.add(c.getName() + kind.getName())) return false;
                    names.add(method.getName());
                }
            }
        }
        return names.stream().allMatch(name -> declared.get(name) == 1);
    }

    /** By an extension other than ours: every annotation that brings one has @ExtendWith on it, but for a few. */
    private static boolean isExtended(AnnotatedElement element) {
        for (Annotation annotation : element.getAnnotations()) {
            Class<? extends Annotation> type = annotation.annotationType();
            if (type == Schedules.class || type == Replay.class) continue;
            if (type == ExtendWith.class || type == Timeout.class || type == Disabled.class) return true;
            if (type.isAnnotationPresent(ExtendWith.class) || type.getSimpleName().equals("TempDir")) return true;
        }
        return false;
    }

    /** The class and the method. */
    public static void main(String[] args) throws Throwable {
        Class<?> test = Class.forName(args[0]);
        Constructor<?> constructor = test.getDeclaredConstructor();
        constructor.setAccessible(true);
        try {
            call(test, BeforeAll.class, null, true);
            Object instance = constructor.newInstance();
            try {
                call(test, BeforeEach.class, instance, true);
                call(find(test, args[1]), instance);
            } catch (TestAbortedException e) {
                // An assumption does not hold here: nothing is wrong.
            } finally {
                call(test, AfterEach.class, instance, false);
            }
        } finally {
            call(test, AfterAll.class, null, false);
        }
    }

    private static Method find(Class<?> test, String name) throws NoSuchMethodException {
        for (Class<?> c = test; c != null; c = c.getSuperclass()) {
            try {
                return c.getDeclaredMethod(name);
            } catch (NoSuchMethodException e) {
                // Perhaps a superclass has it.
            }
        }
        throw new NoSuchMethodException(test.getName() + "." + name);
    }

    /** All methods of a kind, those of the superclass first if it is a preparation. */
    private static void call(Class<?> test, Class<? extends Annotation> kind, Object on, boolean before)
            throws Throwable {
        List<Class<?>> classes = new ArrayList<>();
        for (Class<?> c = test; c != Object.class; c = c.getSuperclass()) classes.add(c);
        if (before) Collections.reverse(classes);
        for (Class<?> c : classes) {
            for (Method method : c.getDeclaredMethods()) {
                if (method.isAnnotationPresent(kind)) call(method, on);
            }
        }
    }

    private static void call(Method method, Object on) throws Throwable {
        method.setAccessible(true);
        try {
            method.invoke(on);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
