package vthreads;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.FailedException;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;
import java.util.concurrent.StructuredTaskScope.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Structured concurrency and scoped values: what a scope orders, and what it does not. Sections whose race is
 * expected have it on the static field that is named after them, or on the object that a scoped value is bound to.
 */
public final class Scopes {
    /** Loading classes orders threads by accident, the first time. */
    private static final int ROUNDS = 2;

    private static final Map<String, Section> SECTIONS = new LinkedHashMap<>();

    private static final ScopedValue<Data> BOUND = ScopedValue.newInstance();

    interface Section {
        void run(Data d) throws Exception;
    }

    static int siblings;
    static int siblingReads;
    static int notJoined;
    static int notYetClosed;
    static int seen;

    /** What is shared. */
    static class Data {
        int x;

        void write() {
            x = 42;
        }

        void expect() {
            expect(42);
        }

        void expect(int value) {
            if (x != value) throw new AssertionError(x + " instead of " + value);
        }
    }

    /** What a scoped value is bound to, counted up by two tasks. */
    static final class Counter extends Data {
        int count;
    }

    /** Everybody waits for everybody; what comes after it is unordered. */
    static final class Gate {
        private final AtomicInteger missing;

        Gate(int parties) {
            missing = new AtomicInteger(parties);
        }

        void pass() {
            missing.decrementAndGet();
            while (missing.get() > 0) Thread.yield();
        }
    }

    private Scopes() {}

    public static void main(String[] args) throws Exception {
        for (String name : args.length == 0 ? SECTIONS.keySet().toArray(new String[0]) : args) {
            Section section = SECTIONS.get(name);
            if (section == null) {
                System.err.println("no section " + name);
                System.exit(2);
            }
            for (int round = 0; round < ROUNDS; round++) section.run(new Data());
            System.out.println("ok " + name);
        }
    }

    /** The scope's owner knows what came before the fork, and all that was done when it has joined. */
    private static void ordered() {
        SECTIONS.put("fork", d -> {
            d.write();
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> d.expect());
                scope.join();
            }
        });
        SECTIONS.put("join", d -> {
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(d::write);
                scope.join();
                d.expect();
            }
        });
        SECTIONS.put("subtask-get", d -> {
            try (var scope = StructuredTaskScope.open()) {
                Subtask<Data> subtask = scope.fork(() -> {
                    d.write();
                    return d;
                });
                scope.join();
                subtask.get().expect();
            }
        });
        SECTIONS.put("all-results", d -> {
            try (var scope = StructuredTaskScope.open(Joiner.<Data>allSuccessfulOrThrow())) {
                for (int i = 0; i < 4; i++) {
                    scope.fork(() -> {
                        Data own = new Data();
                        own.write();
                        return own;
                    });
                }
                scope.join().forEach(subtask -> subtask.get().expect());
            }
        });
        SECTIONS.put("any-result", d -> {
            try (var scope = StructuredTaskScope.open(Joiner.<Data>anySuccessfulResultOrThrow())) {
                for (int i = 0; i < 2; i++) {
                    scope.fork(() -> {
                        Data own = new Data();
                        own.write();
                        return own;
                    });
                }
                scope.join().expect();
            }
        });
        SECTIONS.put("close-after-failure", d -> {
            Gate gate = new Gate(2);
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> {
                    gate.pass();
                    d.write();
                });
                scope.fork(() -> {
                    gate.pass();
                    throw new IllegalStateException("on purpose");
                });
                scope.join();
                throw new AssertionError("not failed");
            } catch (FailedException e) {
                d.expect();
            }
        });
        SECTIONS.put("close-after-timeout", d -> {
            Gate gate = new Gate(2);
            var limit = Duration.ofMillis(20);
            try (var scope = StructuredTaskScope.open(Joiner.awaitAll(), with -> with.withTimeout(limit))) {
                scope.fork(() -> {
                    gate.pass();
                    try {
                        Thread.sleep(3_600_000);
                    } catch (InterruptedException e) {
                        d.write();
                    }
                });
                gate.pass();
                scope.join();
                throw new AssertionError("in time");
            } catch (TimeoutException e) {
                d.expect();
            }
        });
        SECTIONS.put("nested", d -> {
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> {
                    try (var inner = StructuredTaskScope.open()) {
                        inner.fork(d::write);
                        inner.join();
                        d.expect();
                    }
                    return null;
                });
                scope.join();
                d.expect();
            }
        });
        SECTIONS.put("scoped-value", d -> {
            d.write();
            ScopedValue.where(BOUND, d).call(() -> {
                try (var scope = StructuredTaskScope.open()) {
                    scope.fork(() -> BOUND.get().expect());
                    scope.fork(() -> BOUND.get().expect());
                    return scope.join();
                }
            });
        });
        SECTIONS.put("scoped-value-rebound", d -> ScopedValue.where(BOUND, d).call(() -> {
            try (var scope = StructuredTaskScope.open()) {
                for (int i = 0; i < 2; i++) {
                    scope.fork(() -> ScopedValue.where(BOUND, new Data()).run(() -> {
                        BOUND.get().write();
                        BOUND.get().expect();
                    }));
                }
                return scope.join();
            }
        }));
    }

    private static void racy() {
        SECTIONS.put("siblings", d -> {
            Gate gate = new Gate(2);
            Runnable count = () -> {
                gate.pass();
                siblings++; // race: siblings
            };
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(count);
                scope.fork(count);
                scope.join();
            }
        });
        SECTIONS.put("siblingReads", d -> {
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> siblingReads = 1); // race: siblingReads
                scope.fork(() -> seen = siblingReads); // race: siblingReads
                scope.join();
            }
        });
        SECTIONS.put("notJoined", d -> {
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> notJoined = 1); // race: notJoined
                seen = notJoined; // race: notJoined
                scope.join();
            }
        });
        // One result is enough to go on; the other task may still be at work.
        SECTIONS.put("notYetClosed", d -> {
            CountDownLatch end = new CountDownLatch(1);
            try (var scope = StructuredTaskScope.open(Joiner.<Integer>anySuccessfulResultOrThrow())) {
                scope.fork(() -> {
                    notYetClosed = 1; // race: notYetClosed
                    while (end.getCount() > 0) Thread.yield();
                    return 2;
                });
                scope.fork(() -> 1);
                scope.join();
                seen = notYetClosed; // race: notYetClosed
                end.countDown();
            }
        });
        SECTIONS.put("scopedObject", d -> {
            Counter counter = new Counter();
            Gate gate = new Gate(2);
            ScopedValue.where(BOUND, counter).call(() -> {
                try (var scope = StructuredTaskScope.open()) {
                    for (int i = 0; i < 2; i++) {
                        scope.fork(() -> {
                            gate.pass();
                            ((Counter) BOUND.get()).count++; // race: scopedObject
                        });
                    }
                    return scope.join();
                }
            });
        });
    }

    static {
        ordered();
        racy();
    }
}
