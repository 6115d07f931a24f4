package edge.greeting;

import java.util.ServiceLoader;

/** Run as edge.greeting/edge.greeting.Main. */
public final class Main {
    private Main() {}

    /** Greets from two threads, one after the other. */
    public static void main(String[] args) throws InterruptedException {
        Module module = Main.class.getModule();
        System.out.println("in " + module + ", reads java.sql: "
                + ModuleLayer.boot().findModule("java.sql").map(module::canRead).orElse(false));
        Greeting greeting = ServiceLoader.load(Greeting.class).findFirst().orElseThrow();
        Thread thread = new Thread(() -> System.out.println(greeting.greet("thread")));
        thread.start();
        thread.join();
        System.out.println(greeting.greet("main"));
    }
}
