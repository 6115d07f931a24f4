/** A service and its user in one named module, run from the module path. */
module edge.greeting {
    exports edge.greeting;

    uses edge.greeting.Greeting;

    provides edge.greeting.Greeting with
            edge.greeting.Polite;
}
