import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** Interfaces implemented by classes that the JDK makes at run time. */
public final class Proxies {
    interface Greeter {
        String greet(String whom, int times);

        default String shout() {
            return greet("everybody", 2).toUpperCase(java.util.Locale.ROOT);
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked {
        int level() default 3;

        String[] names() default {"a", "b"};
    }

    @Marked(level = 4)
    private static final class Counting implements InvocationHandler {
        private final Object target;
        private int calls;
        private final List<String> log = new ArrayList<>();

        Counting(Object target) {
            this.target = target;
        }

        @Override
        public synchronized Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
            calls++;
            log.add(method.getName());
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, args);
            }
            try {
                return method.invoke(target, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private Proxies() {}

    public static void main(String[] args) throws InterruptedException {
        Greeter real = (whom, times) -> {
            if (times == 0) {
                throw new IllegalArgumentException("not even once");
            }
            return ("hello " + whom + " ").repeat(times).trim();
        };
        Counting counting = new Counting(real);
        Greeter proxy = (Greeter)
                Proxy.newProxyInstance(Proxies.class.getClassLoader(), new Class<?>[] {Greeter.class}, counting);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 20; n++) { // often enough for calls by reflection to be compiled
                    proxy.greet("thread", 1);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(counting.calls + " calls");
        counting.log.clear();
        System.out.println(proxy.shout());
        try {
            proxy.greet("nobody", 0);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(proxy.equals(proxy) + " " + (proxy.hashCode() == real.hashCode()) + " " + counting.log);
        Marked marked = Counting.class.getAnnotation(Marked.class);
        System.out.println(marked.level() + " " + marked.names()[1] + " " + marked.equals(marked));
    }
}
