import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Tiny programs, named on the command line, whose number of classes of equivalent executions can be
 * worked out by hand. Whatever is shared lies in fields of one object, made before the threads are.
 */
public final class Litmus {
    final Object lock = new Object();
    final Object other = new Object();
    final ReentrantLock mutex = new ReentrantLock();
    final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    final AtomicInteger atomic = new AtomicInteger();
    volatile int v;
    volatile int w;
    volatile boolean flag;
    int plain;
    boolean plainFlag;

    static void together(Runnable... bodies) throws InterruptedException {
        Thread[] threads = new Thread[bodies.length];
        for (int i = 0; i < bodies.length; i++) threads[i] = new Thread(bodies[i]);
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
    }

    private void increment() {
        synchronized (lock) {
            plain++;
        }
    }

    private void incrementByMutex() {
        mutex.lock();
        try {
            plain++;
        } finally {
            mutex.unlock();
        }
    }

    void run(String what) throws InterruptedException {
        switch (what) {
            case "nothing" -> together(() -> {}, () -> {});
            case "lock2" -> together(this::increment, this::increment);
            case "lambda" -> {
                // Its class has no name that is the same in the next run.
                Runnable lock = () -> {};
                Runnable locked = () -> {
                    synchronized (lock) {
                        plain++;
                    }
                };
                together(locked, locked);
            }
            case "lock3" -> together(this::increment, this::increment, this::increment);
            case "twice" -> {
                Runnable both = () -> {
                    increment();
                    increment();
                };
                together(both, both);
            }
            case "twolocks" -> together(this::increment, () -> {
                synchronized (other) {
                    v = 1;
                }
            });
            case "mutex2" -> together(this::incrementByMutex, this::incrementByMutex);
            case "trylock" -> {
                Runnable attempt = () -> {
                    if (mutex.tryLock()) mutex.unlock();
                };
                together(attempt, attempt);
            }
            case "readers" -> {
                Runnable reader = () -> {
                    readWrite.readLock().lock();
                    readWrite.readLock().unlock();
                };
                together(reader, reader, () -> {
                    readWrite.writeLock().lock();
                    plain++;
                    readWrite.writeLock().unlock();
                });
            }
            case "deadlock" -> together(
                    () -> {
                        synchronized (lock) {
                            synchronized (other) {
                                plain++;
                            }
                        }
                    },
                    () -> {
                        synchronized (other) {
                            synchronized (lock) {
                                plain++;
                            }
                        }
                    });
            case "storebuffer" -> {
                int[] seen = new int[2];
                together(
                        () -> {
                            v = 1;
                            seen[0] = w;
                        },
                        () -> {
                            w = 1;
                            seen[1] = v;
                        });
                if (seen[0] + seen[1] == 0) throw new AssertionError("no order has this");
            }
            case "message" -> together(
                    () -> {
                        plain = 1;
                        flag = true;
                    },
                    () -> {
                        if (flag && plain != 1) throw new AssertionError("volatile does not order");
                    });
            case "readers2" -> together(() -> consume(v), () -> consume(v));
            case "cas2" -> {
                Runnable attempt = () -> {
                    if (atomic.compareAndSet(0, 1)) plain++;
                };
                together(attempt, attempt);
            }
            case "waitnotify" -> together(
                    () -> {
                        synchronized (lock) {
                            while (!plainFlag) await(lock);
                        }
                    },
                    () -> {
                        synchronized (lock) {
                            plainFlag = true;
                            lock.notify();
                        }
                    });
            case "lostnotify" -> together(
                    () -> {
                        synchronized (lock) {
                            await(lock);
                        }
                    },
                    () -> {
                        synchronized (lock) {
                            lock.notify();
                        }
                    });
            case "park" -> {
                Thread parked = new Thread(LockSupport::park);
                parked.start();
                LockSupport.unpark(parked);
                parked.join();
            }
            case "spin" -> together(
                    () -> {
                        while (!flag) Thread.onSpinWait();
                        consume(plain);
                    },
                    () -> {
                        plain = 1;
                        flag = true;
                    });
            case "caslock" -> {
                Runnable enter = () -> {
                    while (!atomic.compareAndSet(0, 1)) Thread.yield();
                    plain++;
                    atomic.set(0);
                };
                together(enter, enter);
            }
            case "race" -> together(() -> plain++, () -> plain++);
            case "hidden" -> together(
                    () -> {
                        plain = 1;
                        synchronized (lock) {
                            consume(0);
                        }
                    },
                    () -> {
                        synchronized (lock) {
                            consume(0);
                        }
                        consume(plain);
                    });
            case "semaphore" -> {
                Semaphore one = new Semaphore(1);
                Runnable enter = () -> {
                    one.acquireUninterruptibly();
                    plain++;
                    one.release();
                };
                together(enter, enter);
            }
            case "tryacquire" -> {
                Semaphore one = new Semaphore(1);
                Runnable attempt = () -> {
                    if (one.tryAcquire()) one.release();
                };
                together(attempt, attempt);
            }
            case "assertion" -> {
                Runnable check = () -> {
                    int before = v;
                    v = before + 1;
                };
                together(check, check);
                if (v != 2) throw new AssertionError("an update was lost");
            }
            case "spinplain" -> together(
                    () -> {
                        while (!plainFlag) Thread.onSpinWait();
                    },
                    () -> plainFlag = true);
            default -> throw new IllegalArgumentException(what);
        }
    }

    static void consume(int value) {
        if (value < 0) throw new IllegalStateException();
    }

    static void await(Object lock) {
        try {
            lock.wait();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Litmus().run(args[0]);
    }
}
