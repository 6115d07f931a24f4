package org.junit.platform.console;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Takes the arguments that campaigns give to JUnit's launcher, and runs the one method that they select. */
public final class ConsoleLauncher {
    private static final String SELECT = "--select-method=";

    private ConsoleLauncher() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        if (!args[0].equals("execute")) {
            throw new IllegalArgumentException(args[0]);
        }
        for (String arg : args) {
            if (arg.startsWith(SELECT)) {
                String[] names = arg.substring(SELECT.length()).split("#");
                run(Class.forName(names[0]), names[1]);
                return;
            }
        }
        throw new IllegalArgumentException("no test is selected");
    }

    private static void run(Class<?> type, String name) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method method = type.getDeclaredMethod(name);
        method.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
        } catch (InvocationTargetException failed) {
            System.err.println(failed.getCause());
            System.exit(1);
        }
    }
}
