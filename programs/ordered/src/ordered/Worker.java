package ordered;

/**
 * A thread whose failure ends the program, since others may be waiting for it.
 * Sections check what they see before they call finish(), so that the join in
 * there is not what orders them.
 */
final class Worker extends Thread {
    private final Body body;

    /** What the thread does. */
    interface Body {
        void run() throws Exception;
    }

    private Worker(Body body) {
        super("worker");
        this.body = body;
    }

    static Worker start(Body body) {
        Worker worker = new Worker(body);
        worker.start();
        return worker;
    }

    @Override
    public void run() {
        try {
            body.run();
        } catch (Throwable e) {
            giveUp(e);
        }
    }

    /** Waits for the end. */
    void finish() throws InterruptedException {
        join();
    }

    /** Ends the program at once, whatever other threads are doing. */
    static void giveUp(Throwable why) {
        why.printStackTrace();
        Runtime.getRuntime().halt(1);
    }
}
