/** Ends at once. */
public final class Brief {
    private Brief() {}

    public static void main(String[] args) {
        System.out.println("that was it");
    }
}
