/** Ends the JVM in the middle of everything: no hooks, no finally, other threads at work. */
public final class Halt {
    static int[] cells = new int[1000];

    private Halt() {}

    public static void main(String[] args) throws InterruptedException {
        Thread busy = new Thread(() -> {
            int[] mine = new int[1000];
            for (int i = 0; ; i++) {
                mine[i % mine.length] = i;
            }
        });
        busy.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("a hook ran")));
        Thread writer = new Thread(() -> cells[0] = 1);
        writer.start();
        writer.join();
        System.out.println("halting with " + cells[0]);
        System.out.flush();
        try {
            Runtime.getRuntime().halt(3);
        } finally {
            System.out.println("still here");
        }
    }
}
