package edge.greeting;

/** The service. */
public interface Greeting {
    String greet(String whom);
}
