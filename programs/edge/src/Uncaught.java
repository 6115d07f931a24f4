/** Exceptions that nobody catches: in a thread (the program goes on) and in main (exit code 1). */
public final class Uncaught {
    int depth;

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> new Uncaught().fall(3), "falling");
        thread.start();
        thread.join();
        System.out.println("the thread fell alone");
        new Uncaught().fall(2);
    }

    private void fall(int from) {
        depth++;
        if (depth == from) {
            throw new IllegalStateException("fell " + depth);
        }
        fall(from);
    }
}
