/** What the end of a thread does for others: join in all its forms, and the notifyAll on the thread. */
public final class Joins {
    private Joins() {}

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        int[] cell = new int[1];
        // With some other monitor in hand.
        synchronized (lock) {
            start("one", () -> cell[0]++).join();
        }
        System.out.println("held another: " + cell[0]);
        // With the thread's own, which join gives up while it waits.
        Thread two = start("two", () -> {
            synchronized (Thread.currentThread()) {
                cell[0]++;
            }
        });
        synchronized (two) {
            two.join();
        }
        System.out.println("held its own: " + cell[0]);
        // By hand: the JVM notifies all who wait on a thread that ends.
        Thread three = start("three", () -> cell[0]++);
        Thread watcher = start("watcher", () -> {
            synchronized (three) {
                while (three.isAlive()) {
                    try {
                        three.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
            cell[0]++;
        });
        watcher.join();
        System.out.println("by hand: " + cell[0]);
        // Many at once, one of them dead already, one never started.
        Thread four = start("four", () -> cell[0]++);
        Thread[] joiners = new Thread[3];
        for (int i = 0; i < joiners.length; i++) {
            joiners[i] = start("joiner" + i, () -> {
                try {
                    four.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (Thread joiner : joiners) {
            joiner.join();
        }
        four.join();
        new Thread("never").join();
        System.out.println("many: " + cell[0] + " " + four.getState());
        // Twice started.
        try {
            four.start();
            System.out.println("started twice?");
        } catch (IllegalThreadStateException e) {
            System.out.println("not twice");
        }
    }
}
