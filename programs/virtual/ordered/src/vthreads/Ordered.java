package vthreads;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Ways to order two virtual threads, or a virtual and a platform thread. In each section plain data
 * is shared whose order comes from the construct alone. Nothing may be reported for any of them.
 */
public final class Ordered {
    /** Loading classes orders threads by accident, the first time. */
    private static final int ROUNDS = 2;

    private static final Map<String, Section> SECTIONS = new LinkedHashMap<>();

    interface Section {
        void run(Data d) throws Exception;
    }

    /** What is shared. */
    static final class Data {
        int x;
        volatile boolean ready;

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

    private Ordered() {}

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

    /** What a thread died of ends the program. */
    private static Runnable checked(Callable<?> body) {
        return () -> {
            try {
                body.call();
            } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(3);
            }
        };
    }

    private interface Body {
        void run() throws Exception;
    }

    private static Runnable checked(Body body) {
        return checked(() -> {
            body.run();
            return null;
        });
    }

    private static Thread virtual(Body body) {
        return Thread.startVirtualThread(checked(body));
    }

    private static Thread platform(Body body) {
        Thread thread = new Thread(checked(body));
        thread.start();
        return thread;
    }

    /** Two virtual threads and a platform thread count under something that lets one in at a time. */
    private static void counted(Data d, Body enter, Runnable leave) throws Exception {
        Body count = () -> {
            for (int i = 0; i < 20; i++) {
                enter.run();
                d.x++;
                leave.run();
            }
        };
        Thread[] all = {virtual(count), virtual(count), platform(count)};
        for (Thread thread : all) thread.join();
        d.expect(60);
    }

    /** One writes and tells, the other is told and reads: virtual to virtual, and to and from a platform thread. */
    private static void handed(Section writer, Section reader) throws Exception {
        for (int kind = 0; kind < 3; kind++) {
            Data d = new Data();
            Body read = () -> {
                reader.run(d);
                d.expect();
            };
            Body write = () -> {
                d.write();
                writer.run(d);
            };
            Thread r = kind == 1 ? platform(read) : virtual(read);
            Thread w = kind == 2 ? platform(write) : virtual(write);
            r.join();
            w.join();
        }
    }

    /** A sleep that keeps a virtual thread on its carrier: there is a frame of the JVM's below it. */
    static final class Slow {
        static final int READY;

        static {
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            READY = 42;
        }
    }

    /** The same, when native code asks it for a class. */
    static final class SlowLoader extends ClassLoader {
        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            throw new ClassNotFoundException(name);
        }
    }

    /** Carriers use tasks of this kind for threads that sleep; the program does afterwards. */
    private static void handedByTask(Body sleep) throws Exception {
        virtual(sleep).join();
        Map<Data, FutureTask<Integer>> tasks = new ConcurrentHashMap<>();
        handed(
                e -> tasks.computeIfAbsent(e, k -> new FutureTask<>(() -> 1)).run(),
                e -> tasks.computeIfAbsent(e, k -> new FutureTask<>(() -> 1)).get());
    }

    static {
        // These come first, when nobody has used such a task yet.
        SECTIONS.put("task-after-initialiser", d -> handedByTask(() -> new Data().expect(Slow.READY - 42)));
        SECTIONS.put("task-after-native", d -> handedByTask(() -> {
            try {
                Class.forName("no.Such", false, new SlowLoader());
                throw new AssertionError();
            } catch (ClassNotFoundException e) {
                // on purpose
            }
        }));
        SECTIONS.put("task-after-sleep", d -> handedByTask(() -> Thread.sleep(2)));
        SECTIONS.put("start", d -> {
            d.write();
            virtual(d::expect).join();
        });
        SECTIONS.put("start-by-virtual", d -> virtual(() -> {
            d.write();
            virtual(d::expect).join();
        }).join());
        SECTIONS.put("start-platform-by-virtual", d -> virtual(() -> {
            d.write();
            platform(d::expect).join();
        }).join());
        SECTIONS.put("start-unstarted", d -> {
            Thread thread = Thread.ofVirtual().name("late").unstarted(checked(() -> d.expect()));
            d.write();
            thread.start();
            thread.join();
        });
        SECTIONS.put("start-by-factory", d -> {
            Thread thread = Thread.ofVirtual().name("made-", 0).factory().newThread(checked(() -> d.expect()));
            d.write();
            thread.start();
            thread.join();
        });
        SECTIONS.put("join", d -> {
            virtual(d::write).join();
            d.expect();
        });
        SECTIONS.put("join-by-virtual", d -> {
            Thread first = virtual(d::write);
            virtual(() -> {
                first.join();
                d.expect();
            }).join();
        });
        SECTIONS.put("join-platform-by-virtual", d -> {
            Thread first = platform(d::write);
            virtual(() -> {
                first.join();
                d.expect();
            }).join();
        });
        SECTIONS.put("join-millis", d -> {
            Thread thread = virtual(d::write);
            thread.join(60_000);
            d.expect();
        });
        SECTIONS.put("join-duration", d -> {
            if (!virtual(d::write).join(Duration.ofMinutes(1))) throw new AssertionError();
            d.expect();
        });
        SECTIONS.put("join-by-two", d -> {
            Thread first = virtual(d::write);
            Body join = () -> {
                first.join();
                d.expect();
            };
            Thread a = virtual(join);
            Thread b = platform(join);
            a.join();
            b.join();
        });
        SECTIONS.put("is-alive", d -> {
            Thread thread = virtual(d::write);
            while (thread.isAlive()) Thread.yield();
            d.expect();
        });
        SECTIONS.put("get-state", d -> {
            Thread thread = virtual(d::write);
            while (thread.getState() != Thread.State.TERMINATED) Thread.yield();
            d.expect();
        });
        SECTIONS.put("uncaught", d -> {
            Thread thread = Thread.ofVirtual().unstarted(() -> {
                throw new IllegalStateException("on purpose");
            });
            thread.setUncaughtExceptionHandler((t, e) -> d.write());
            thread.start();
            thread.join();
            d.expect();
        });
        SECTIONS.put("executor-close", d -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                executor.execute(checked(d::write));
            }
            d.expect();
        });
        SECTIONS.put("executor-await", d -> {
            ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
            executor.execute(checked(d::write));
            executor.shutdown();
            if (!executor.awaitTermination(1, TimeUnit.MINUTES)) throw new AssertionError();
            d.expect();
        });
        SECTIONS.put("executor-is-terminated", d -> {
            ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
            executor.execute(checked(d::write));
            executor.shutdown();
            while (!executor.isTerminated()) Thread.yield();
            d.expect();
        });
        SECTIONS.put("executor-get", d -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                Future<?> future = executor.submit(checked(d::write));
                future.get();
                d.expect();
            }
        });
        SECTIONS.put("executor-submit", d -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                d.write();
                executor.submit(checked(() -> d.expect())).get();
            }
        });
        SECTIONS.put("executor-invoke-all", d -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                executor.invokeAll(List.of(() -> {
                    d.write();
                    return 1;
                }));
                d.expect();
            }
        });
        SECTIONS.put("executor-of-platform-threads", d -> {
            try (ExecutorService executor = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
                executor.execute(checked(d::write));
            }
            d.expect();
        });
        SECTIONS.put("completable-future", d -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                CompletableFuture.runAsync(checked(d::write), executor)
                        .thenRunAsync(checked(() -> d.expect()), executor).get();
            }
        });
        SECTIONS.put("monitor", d -> {
            Object lock = new Object();
            Body count = () -> {
                for (int i = 0; i < 20; i++) {
                    synchronized (lock) {
                        d.x++;
                    }
                }
            };
            Thread[] all = {virtual(count), virtual(count), platform(count)};
            for (Thread thread : all) thread.join();
            d.expect(60);
        });
        SECTIONS.put("monitor-held-asleep", d -> {
            Object lock = new Object();
            Body count = () -> {
                synchronized (lock) {
                    d.x++;
                    Thread.sleep(2);
                    d.x++;
                }
            };
            Thread[] all = {virtual(count), virtual(count), virtual(count), platform(count)};
            for (Thread thread : all) thread.join();
            d.expect(8);
        });
        SECTIONS.put("wait-notify", d -> handed(e -> {
            synchronized (e) {
                e.ready = true;
                e.notifyAll();
            }
        }, e -> {
            synchronized (e) {
                while (!e.ready) e.wait();
            }
        }));
        SECTIONS.put("wait-gives-up-the-lock", d -> {
            Data e = new Data();
            Thread waiter = virtual(() -> {
                synchronized (e) {
                    e.x = 1;
                    while (e.x != 2) e.wait();
                    e.x = 3;
                }
            });
            virtual(() -> {
                while (true) {
                    synchronized (e) {
                        if (e.x == 1) {
                            e.x = 2;
                            e.notify();
                            return;
                        }
                    }
                    Thread.yield();
                }
            }).join();
            waiter.join();
            e.expect(3);
        });
        SECTIONS.put("wait-expired", d -> {
            Body count = () -> {
                for (int i = 0; i < 3; i++) {
                    synchronized (d) {
                        d.x++;
                        d.wait(1);
                        d.x++;
                    }
                }
            };
            Thread[] all = {virtual(count), virtual(count), platform(count)};
            for (Thread thread : all) thread.join();
            d.expect(18);
        });
        SECTIONS.put("lock", d -> {
            ReentrantLock lock = new ReentrantLock();
            counted(d, lock::lock, lock::unlock);
        });
        SECTIONS.put("lock-fair", d -> {
            ReentrantLock lock = new ReentrantLock(true);
            counted(d, lock::lockInterruptibly, lock::unlock);
        });
        SECTIONS.put("lock-timed", d -> {
            ReentrantLock lock = new ReentrantLock();
            counted(d, () -> {
                if (!lock.tryLock(1, TimeUnit.MINUTES)) throw new AssertionError();
            }, lock::unlock);
        });
        SECTIONS.put("write-lock", d -> {
            ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
            counted(d, lock.writeLock()::lock, lock.writeLock()::unlock);
        });
        SECTIONS.put("stamped-lock", d -> {
            StampedLock lock = new StampedLock();
            counted(d, lock::writeLock, lock::tryUnlockWrite);
        });
        SECTIONS.put("condition", d -> {
            ReentrantLock lock = new ReentrantLock();
            Condition told = lock.newCondition();
            handed(e -> {
                lock.lock();
                e.ready = true;
                told.signalAll();
                lock.unlock();
            }, e -> {
                lock.lock();
                while (!e.ready) told.await();
                lock.unlock();
            });
        });
        SECTIONS.put("semaphore", d -> {
            Semaphore permit = new Semaphore(1);
            counted(d, permit::acquire, permit::release);
        });
        SECTIONS.put("latch", d -> {
            Map<Data, CountDownLatch> latches = new ConcurrentHashMap<>();
            handed(
                    e -> latches.computeIfAbsent(e, k -> new CountDownLatch(1)).countDown(),
                    e -> latches.computeIfAbsent(e, k -> new CountDownLatch(1)).await());
        });
        SECTIONS.put("barrier", d -> {
            CyclicBarrier barrier = new CyclicBarrier(2);
            handed(e -> barrier.await(), e -> barrier.await());
        });
        SECTIONS.put("phaser", d -> {
            Phaser phaser = new Phaser(2);
            handed(e -> phaser.arriveAndAwaitAdvance(), e -> phaser.arriveAndAwaitAdvance());
        });
        SECTIONS.put("exchanger", d -> {
            Exchanger<Data> exchanger = new Exchanger<>();
            handed(e -> exchanger.exchange(e), e -> exchanger.exchange(e));
        });
        SECTIONS.put("array-blocking-queue", d -> {
            ArrayBlockingQueue<Data> queue = new ArrayBlockingQueue<>(1);
            handed(queue::put, e -> queue.take());
        });
        SECTIONS.put("synchronous-queue", d -> {
            SynchronousQueue<Data> queue = new SynchronousQueue<>();
            handed(queue::put, e -> queue.take());
        });
        SECTIONS.put("transfer-queue", d -> {
            LinkedTransferQueue<Data> queue = new LinkedTransferQueue<>();
            handed(queue::transfer, e -> queue.take());
        });
        SECTIONS.put("concurrent-map", d -> {
            ConcurrentHashMap<Data, Data> map = new ConcurrentHashMap<>();
            handed(e -> map.put(e, e), e -> {
                while (map.get(e) == null) Thread.yield();
            });
        });
        SECTIONS.put("volatile-yield", d -> handed(e -> e.ready = true, e -> {
            while (!e.ready) Thread.yield();
        }));
        SECTIONS.put("volatile-sleep", d -> handed(e -> e.ready = true, e -> {
            while (!e.ready) Thread.sleep(1);
        }));
        SECTIONS.put("volatile-park", d -> {
            AtomicReference<Thread> parked = new AtomicReference<>();
            Thread reader = virtual(() -> {
                parked.set(Thread.currentThread());
                while (!d.ready) LockSupport.park(d);
                d.expect();
            });
            while (parked.get() == null) Thread.yield();
            virtual(() -> {
                d.write();
                d.ready = true;
                LockSupport.unpark(parked.get());
            }).join();
            reader.join();
        });
        SECTIONS.put("atomic", d -> {
            AtomicInteger turn = new AtomicInteger();
            handed(e -> turn.incrementAndGet(), e -> {
                while (turn.get() == 0) Thread.yield();
                turn.set(0);
            });
        });
        SECTIONS.put("interrupt-sleep", d -> interrupted(d, () -> Thread.sleep(60_000)));
        SECTIONS.put("interrupt-wait", d -> interrupted(d, () -> {
            Object lock = new Object();
            synchronized (lock) {
                lock.wait();
            }
        }));
        SECTIONS.put("interrupt-join", d -> {
            CountDownLatch end = new CountDownLatch(1);
            Thread other = virtual(end::await);
            interrupted(d, other::join);
            end.countDown();
            other.join();
        });
        SECTIONS.put("interrupt-take", d -> interrupted(d, () -> new SynchronousQueue<Data>().take()));
        SECTIONS.put("interrupt-polled", d -> interrupted(d, () -> {
            while (!Thread.currentThread().isInterrupted()) Thread.yield();
            throw new InterruptedException();
        }));
        SECTIONS.put("interrupt-cleared", d -> interrupted(d, () -> {
            while (!Thread.interrupted()) Thread.yield();
            throw new InterruptedException();
        }));
        SECTIONS.put("interrupt-park", d -> interrupted(d, () -> {
            while (!Thread.interrupted()) LockSupport.park();
            throw new InterruptedException();
        }));
        SECTIONS.put("inherited-local", d -> {
            InheritableThreadLocal<Data> local = new InheritableThreadLocal<>();
            local.set(d);
            d.write();
            virtual(() -> local.get().expect()).join();
        });
        SECTIONS.put("thread-local", d -> {
            ThreadLocal<Data> local = ThreadLocal.withInitial(Data::new);
            Body own = () -> {
                local.get().x++;
                Thread.yield();
                local.get().expect(1);
            };
            Thread a = virtual(own);
            Thread b = virtual(own);
            a.join();
            b.join();
        });
        SECTIONS.put("many", d -> {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                all.add(virtual(() -> {
                    synchronized (d) {
                        d.x++;
                    }
                }));
            }
            for (Thread thread : all) thread.join();
            d.expect(300);
        });
        SECTIONS.put("ping-pong", d -> {
            SynchronousQueue<Data> there = new SynchronousQueue<>();
            SynchronousQueue<Data> back = new SynchronousQueue<>();
            Thread a = virtual(() -> {
                for (int i = 0; i < 20; i++) {
                    d.x++;
                    there.put(d);
                    back.take();
                }
            });
            virtual(() -> {
                for (int i = 0; i < 20; i++) {
                    there.take().x++;
                    back.put(d);
                }
            }).join();
            a.join();
            d.expect(40);
        });
    }

    /** A virtual thread is interrupted in the body, by a virtual and by a platform thread. */
    private static void interrupted(Data unused, Body body) throws Exception {
        for (int kind = 0; kind < 2; kind++) {
            Data d = new Data();
            Thread thread = virtual(() -> {
                try {
                    body.run();
                    throw new AssertionError("not interrupted");
                } catch (InterruptedException e) {
                    d.expect();
                }
            });
            Body interrupt = () -> {
                d.write();
                thread.interrupt();
            };
            (kind == 0 ? virtual(interrupt) : platform(interrupt)).join();
            thread.join();
        }
    }
}
