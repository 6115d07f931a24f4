package racy;

/** Two threads that each do one thing, unordered with the other's. */
final class Duel {
    private Duel() {}

    /** What one party does. */
    interface Body {
        void run() throws Exception;
    }

    /** Runs both past a common gate, and waits for them to end. */
    static void run(Body first, Body second) throws Exception {
        Gate gate = new Gate(2);
        withoutGate(() -> {
            gate.pass();
            first.run();
        }, () -> {
            gate.pass();
            second.run();
        });
    }

    /** For bodies that pass gates of their own. */
    static void withoutGate(Body first, Body second) throws Exception {
        Party a = new Party("first", first);
        Party b = new Party("second", second);
        a.start();
        b.start();
        a.finish();
        b.finish();
    }

    private static final class Party extends Thread {
        private final Body body;
        private Exception failure;

        Party(String name, Body body) {
            super(name);
            this.body = body;
        }

        @Override
        public void run() {
            try {
                body.run();
            } catch (Exception e) {
                failure = e;
            }
        }

        void finish() throws Exception {
            join();
            if (failure != null) {
                throw failure;
            }
        }
    }
}
