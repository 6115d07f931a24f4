package ordered;

import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.lang.ref.Cleaner;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** Pipes, references, finalisers, cleaners and the end of the program. */
final class Lifecycle {
    private static final int COLLECTIONS = 20;

    private Lifecycle() {}

    static final class PipedBytes implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            try (PipedInputStream in = new PipedInputStream();
                    PipedOutputStream out = new PipedOutputStream(in)) {
                Worker writer = Worker.start(() -> {
                    data.put(7);
                    out.write(7);
                    out.flush();
                });
                data.expect(in.read());
                writer.finish();
            }
        }
    }

    static final class PipedChars implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            try (PipedReader in = new PipedReader();
                    PipedWriter out = new PipedWriter(in)) {
                Worker writer = Worker.start(() -> {
                    data.put(7);
                    out.write(7);
                    out.flush();
                });
                data.expect(in.read());
                writer.finish();
            }
        }
    }

    /** Put into its queue by one thread, taken out of it by another. */
    static final class Enqueued implements Section {
        private final ReferenceQueue<Object> queue = new ReferenceQueue<>();
        private final Object referent = new Object();
        private final WeakReference<Object> reference = new WeakReference<>(referent, queue);
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                reference.enqueue();
            });
            if (queue.remove(60_000) != reference) {
                throw new AssertionError("not the reference");
            }
            data.expect(1);
            writer.finish();
        }
    }

    /** What happened in another thread, told to the one that waits for it, if it happened. */
    private static final class Outcome {
        private volatile boolean over;
        private Throwable failure;

        void of(Runnable check) {
            try {
                check.run();
            } catch (Throwable e) {
                failure = e;
            }
            over = true;
        }

        /** Collects garbage a few times. That nothing comes of it is allowed. */
        void await() throws InterruptedException {
            for (int i = 0; i < COLLECTIONS && !over; i++) {
                System.gc();
                for (int wait = 0; wait < 5 && !over; wait++) {
                    Thread.sleep(1);
                }
            }
            if (over && failure != null) {
                throw new AssertionError("the other side failed", failure);
            }
        }
    }

    /** The end of the constructor comes before the finaliser. */
    static final class Finaliser implements Section {
        private static final class Doomed {
            private final Outcome outcome;
            private int number;
            private int[] cells;

            Doomed(Outcome outcome) {
                this.outcome = outcome;
                number = 3;
                cells = new int[] {1, 2, 3};
            }

            @Override
            @SuppressWarnings("deprecation")
            protected void finalize() {
                outcome.of(() -> {
                    if (number != 3 || cells[2] != 3) {
                        throw new AssertionError("finalised half made");
                    }
                });
            }
        }

        @Override
        public void run() throws Exception {
            Outcome outcome = new Outcome();
            Worker maker = Worker.start(() -> new Doomed(outcome));
            outcome.await();
            maker.finish();
        }
    }

    /** What was done before an action was registered comes before the action. */
    static final class Cleaning implements Section {
        @Override
        public void run() throws Exception {
            Cleaner cleaner = Cleaner.create();
            Outcome outcome = new Outcome();
            Worker maker = Worker.start(() -> {
                Payload data = new Payload();
                data.put(1);
                cleaner.register(new Object(), () -> outcome.of(() -> data.expect(1)));
            });
            outcome.await();
            maker.finish();
        }
    }

    /** What was done before a hook was added comes before the hook. */
    static final class ShutdownHook implements Section {
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker.start(() -> {
                data.put(1);
                Runtime.getRuntime().addShutdownHook(new Thread(this::check, "hook"));
            }).finish();
        }

        private void check() {
            try {
                data.expect(1);
            } catch (AssertionError e) {
                Runtime.getRuntime().halt(1);
            }
        }
    }

    /** The finaliser is inherited, and what it looks at was written by a subclass and under a lock. */
    static final class FinaliserInherited implements Section {
        private abstract static class Doomed {
            private final Outcome outcome;

            Doomed(Outcome outcome) {
                this.outcome = outcome;
            }

            abstract void check();

            @Override
            @SuppressWarnings("deprecation")
            protected void finalize() {
                outcome.of(this::check);
            }
        }

        private static final class Guarded extends Doomed {
            private int[] cells;
            private int uses;

            Guarded(Outcome outcome) {
                super(outcome);
                cells = new int[] {1, 2, 3};
            }

            synchronized void use() {
                uses++;
            }

            @Override
            synchronized void check() {
                if (cells[2] != 3 || uses != 1) {
                    throw new AssertionError("finalised half used");
                }
            }
        }

        @Override
        public void run() throws Exception {
            Outcome outcome = new Outcome();
            Worker maker = Worker.start(() -> new Guarded(outcome).use());
            outcome.await();
            maker.finish();
        }
    }
}
