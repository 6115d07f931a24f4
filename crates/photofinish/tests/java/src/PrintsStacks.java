/** Two threads print the stacks of their exceptions: by themselves, or by leaving them uncaught. */
public class PrintsStacks {
    public static void main(String[] args) throws InterruptedException {
        boolean caught = args[0].equals("caught");
        Runnable fails = () -> {
            try {
                throw new IllegalStateException("as wanted");
            } catch (IllegalStateException e) {
                if (!caught) throw e;
                e.printStackTrace();
            }
        };
        Thread[] threads = {new Thread(fails), new Thread(fails)};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
