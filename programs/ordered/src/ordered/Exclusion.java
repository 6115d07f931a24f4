package ordered;

/**
 * The exercise for everything that works as a lock: two threads step a payload
 * under it while the caller watches, under it as well. Nothing else orders them,
 * and the watcher is done before it joins.
 */
abstract class Exclusion implements Section {
    private static final int STEPS = 25;

    private final Payload data = new Payload();
    private int steps;
    private boolean done;

    /** Runs the body with the lock held. */
    abstract void locked(Runnable body) throws Exception;

    /** Runs a body that only reads; locks that tell readers apart override it. */
    void lockedForReading(Runnable body) throws Exception {
        locked(body);
    }

    @Override
    public final void run() throws Exception {
        Worker.Body stepper = () -> {
            for (int i = 0; i < STEPS; i++) {
                locked(this::step);
                Thread.yield();
            }
        };
        Worker first = Worker.start(stepper);
        Worker second = Worker.start(stepper);
        while (!done) {
            lockedForReading(this::look);
            Thread.yield();
        }
        first.finish();
        second.finish();
    }

    private void step() {
        if (steps > 0) {
            data.expect(steps);
        }
        steps++;
        data.put(steps);
    }

    /** Run by the watcher alone, so that "done" is its own. */
    private void look() {
        if (steps > 0) {
            data.expect(steps);
        }
        done = steps == 2 * STEPS;
    }
}
