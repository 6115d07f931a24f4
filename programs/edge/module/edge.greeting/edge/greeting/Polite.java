package edge.greeting;

/** The only provider of the service; counts what it did. */
public final class Polite implements Greeting {
    private int greeted;

    /** Called by the service loader. */
    public Polite() {}

    @Override
    public String greet(String whom) {
        greeted++;
        return "good day, " + whom + " (" + greeted + ")";
    }
}
