package vthreads;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Races of virtual threads, one a section, on the static field that is named after it. Nothing orders
 * the two accesses in any run: neither carriers, nor their queues, nor who ends first.
 */
public final class Racy {
    /** Loading classes orders threads by accident, the first time. */
    private static final int ROUNDS = 3;

    private static final Map<String, Section> SECTIONS = new LinkedHashMap<>();

    interface Section {
        void run() throws Exception;
    }

    static int twoVirtual;
    static int virtualAndPlatform;
    static int virtualAndMain;
    static int oneAfterAnother;
    static int startedTooEarly;
    static int startedElsewhere;
    static int unparkedElsewhere;
    static int joinedOther;
    static int joinExpired;
    static int joinedByTwo;
    static int executorTasks;
    static int executorNotAwaited;
    static int executorOther;
    static int executorExpired;
    static int twoLocks;
    static int oneSided;
    static int readLock;
    static int afterSleep;
    static int afterYields;
    static int afterInterrupt;
    static int afterCarrierWork;
    static int pinned;
    static final int[] element = new int[4];
    static Data published;
    static int seen;

    static final class Data {
        int x;
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

    private Racy() {}

    public static void main(String[] args) throws Exception {
        for (String name : args.length == 0 ? SECTIONS.keySet().toArray(new String[0]) : args) {
            Section section = SECTIONS.get(name);
            if (section == null) {
                System.err.println("no section " + name);
                System.exit(2);
            }
            for (int round = 0; round < ROUNDS; round++) section.run();
            System.out.println("done " + name);
        }
    }

    private static Thread virtual(Runnable body) {
        return Thread.ofVirtual().start(body);
    }

    private static Thread platform(Runnable body) {
        Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void both(Thread a, Thread b) throws InterruptedException {
        a.join();
        b.join();
    }

    static {
        SECTIONS.put("twoVirtual", () -> {
            Gate gate = new Gate(2);
            Runnable count = () -> {
                gate.pass();
                twoVirtual++; // race: twoVirtual
            };
            both(virtual(count), virtual(count));
        });
        SECTIONS.put("virtualAndPlatform", () -> {
            Gate gate = new Gate(2);
            Runnable count = () -> {
                gate.pass();
                virtualAndPlatform++; // race: virtualAndPlatform
            };
            both(virtual(count), platform(count));
        });
        SECTIONS.put("virtualAndMain", () -> {
            Gate gate = new Gate(2);
            Thread thread = virtual(() -> {
                gate.pass();
                virtualAndMain = 1; // race: virtualAndMain
            });
            gate.pass();
            virtualAndMain = 2; // race: virtualAndMain
            thread.join();
        });
        // The carriers run them one after the other, if they like.
        SECTIONS.put("oneAfterAnother", () -> {
            Thread a = Thread.ofVirtual().unstarted(() -> oneAfterAnother++); // race: oneAfterAnother
            Thread b = Thread.ofVirtual().unstarted(() -> oneAfterAnother++); // race: oneAfterAnother
            a.start();
            b.start();
            both(a, b);
        });
        SECTIONS.put("startedTooEarly", () -> {
            Thread thread = virtual(() -> seen = startedTooEarly); // race: startedTooEarly
            startedTooEarly = 1; // race: startedTooEarly
            thread.join();
        });
        // Both start a virtual thread in between, through the scheduler that all share.
        SECTIONS.put("startedElsewhere", () -> {
            Thread a = platform(() -> {
                startedElsewhere = 1; // race: startedElsewhere
                virtual(() -> {});
            });
            Thread b = platform(() -> {
                sleep(30);
                virtual(() -> {});
                seen = startedElsewhere; // race: startedElsewhere
            });
            both(a, b);
        });
        // Both unpark some virtual thread in between.
        SECTIONS.put("unparkedElsewhere", () -> {
            Thread p = virtual(LockSupport::park);
            Thread q = virtual(LockSupport::park);
            Thread a = platform(() -> {
                unparkedElsewhere = 1; // race: unparkedElsewhere
                LockSupport.unpark(p);
            });
            Thread b = platform(() -> {
                sleep(30);
                LockSupport.unpark(q);
                seen = unparkedElsewhere; // race: unparkedElsewhere
            });
            both(a, b);
            both(p, q);
        });
        SECTIONS.put("joinedOther", () -> {
            Thread a = virtual(() -> joinedOther = 1); // race: joinedOther
            Thread b = virtual(() -> {});
            b.join();
            seen = joinedOther; // race: joinedOther
            a.join();
        });
        SECTIONS.put("joinExpired", () -> {
            CountDownLatch end = new CountDownLatch(1);
            Thread thread = virtual(() -> {
                joinExpired = 1; // race: joinExpired
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            if (thread.join(Duration.ofMillis(20))) throw new AssertionError();
            seen = joinExpired; // race: joinExpired
            end.countDown();
            thread.join();
        });
        // Two who wait for the same thread are not ordered by that.
        SECTIONS.put("joinedByTwo", () -> {
            Thread thread = virtual(() -> sleep(20));
            Thread a = platform(() -> {
                joinedByTwo = 1; // race: joinedByTwo
                join(thread);
            });
            Thread b = platform(() -> {
                join(thread);
                seen = joinedByTwo; // race: joinedByTwo
            });
            both(a, b);
        });
        SECTIONS.put("executorTasks", () -> {
            Gate gate = new Gate(2);
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 2; i++) {
                    executor.execute(() -> {
                        gate.pass();
                        executorTasks++; // race: executorTasks
                    });
                }
            }
        });
        SECTIONS.put("executorNotAwaited", () -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                executor.execute(() -> executorNotAwaited = 1); // race: executorNotAwaited
                seen = executorNotAwaited; // race: executorNotAwaited
            }
        });
        SECTIONS.put("executorOther", () -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                executor.execute(() -> executorOther = 1); // race: executorOther
                executor.submit(() -> {}).get();
                seen = executorOther; // race: executorOther
            }
        });
        SECTIONS.put("executorExpired", () -> {
            CountDownLatch end = new CountDownLatch(1);
            ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
            executor.submit(() -> {
                end.await();
                return 1;
            });
            executor.execute(() -> executorExpired = 1); // race: executorExpired
            executor.shutdown();
            if (executor.awaitTermination(20, TimeUnit.MILLISECONDS)) throw new AssertionError();
            seen = executorExpired; // race: executorExpired
            end.countDown();
            executor.close();
        });
        SECTIONS.put("twoLocks", () -> {
            Gate gate = new Gate(2);
            Thread a = virtual(() -> locked(gate, new Object()));
            both(a, virtual(() -> locked(gate, new Object())));
        });
        SECTIONS.put("oneSided", () -> {
            Gate gate = new Gate(2);
            Object lock = new Object();
            Thread a = virtual(() -> {
                gate.pass();
                synchronized (lock) {
                    oneSided++; // race: oneSided
                }
            });
            Thread b = virtual(() -> {
                gate.pass();
                oneSided++; // race: oneSided
            });
            both(a, b);
        });
        SECTIONS.put("readLock", () -> {
            Gate gate = new Gate(2);
            ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
            Runnable count = () -> {
                gate.pass();
                lock.readLock().lock();
                readLock++; // race: readLock
                lock.readLock().unlock();
            };
            both(virtual(count), virtual(count));
        });
        SECTIONS.put("afterSleep", () -> {
            Thread a = virtual(() -> afterSleep = 1); // race: afterSleep
            Thread b = virtual(() -> {
                sleep(20);
                seen = afterSleep; // race: afterSleep
            });
            both(a, b);
        });
        SECTIONS.put("afterYields", () -> {
            Thread a = virtual(() -> afterYields = 1); // race: afterYields
            Thread b = virtual(() -> {
                for (int i = 0; i < 10; i++) Thread.yield();
                seen = afterYields; // race: afterYields
            });
            both(a, b);
        });
        SECTIONS.put("afterInterrupt", () -> {
            Thread thread = virtual(() -> {
                try {
                    Thread.sleep(60_000);
                } catch (InterruptedException e) {
                    seen = afterInterrupt; // race: afterInterrupt
                }
            });
            thread.interrupt();
            afterInterrupt = 1; // race: afterInterrupt
            thread.join();
        });
        // Reads what the other left behind on the carrier, blocks and goes on elsewhere in between.
        SECTIONS.put("afterCarrierWork", () -> {
            Thread a = virtual(() -> {
                sleep(1);
                afterCarrierWork++; // race: afterCarrierWork
                sleep(1);
            });
            Thread b = virtual(() -> {
                sleep(10);
                afterCarrierWork++; // race: afterCarrierWork
            });
            both(a, b);
        });
        // Each sleeps with a monitor of its own, which keeps it on its carrier before JDK 24.
        SECTIONS.put("pinned", () -> {
            Runnable count = () -> {
                synchronized (new Object()) {
                    sleep(5);
                    pinned++; // race: pinned
                    sleep(5);
                }
            };
            both(virtual(count), virtual(count));
        });
        SECTIONS.put("inherited", () -> {
            InheritableThreadLocal<Data> local = new InheritableThreadLocal<>();
            local.set(new Data());
            Gate gate = new Gate(2);
            Thread thread = virtual(() -> {
                gate.pass();
                local.get().x++; // race: inherited
            });
            gate.pass();
            local.get().x++; // race: inherited
            thread.join();
        });
        SECTIONS.put("element", () -> {
            Gate gate = new Gate(2);
            Runnable count = () -> {
                gate.pass();
                element[1]++; // race: element
            };
            both(virtual(count), virtual(count));
        });
        SECTIONS.put("published", () -> {
            Gate gate = new Gate(2);
            Thread a = virtual(() -> {
                gate.pass();
                published = new Data(); // race: published
            });
            Thread b = virtual(() -> {
                gate.pass();
                if (published != null) seen = 1; // race: published
            });
            both(a, b);
        });
    }

    private static void locked(Gate gate, Object lock) {
        gate.pass();
        synchronized (lock) {
            twoLocks++; // race: twoLocks
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
