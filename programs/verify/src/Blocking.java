import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Locks, monitors, permits and interrupts, as in {@link Litmus}. */
public final class Blocking {
    final Object lock = new Object();
    final Object other = new Object();
    final Object third = new Object();
    final ReentrantLock mutex = new ReentrantLock();
    final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    int plain;
    boolean full;
    boolean ready;

    private void eat(Object left, Object right) {
        synchronized (left) {
            synchronized (right) {
                Litmus.consume(0);
            }
        }
    }

    private void waits() {
        synchronized (lock) {
            Litmus.await(lock);
        }
    }

    private void waitsUntilReady() {
        synchronized (lock) {
            while (!ready) Litmus.await(lock);
        }
    }

    private void put() {
        synchronized (lock) {
            while (full) Litmus.await(lock);
            full = true;
            lock.notify();
        }
    }

    private void take() {
        synchronized (lock) {
            while (!full) Litmus.await(lock);
            full = false;
            lock.notify();
        }
    }

    private void arrive() {
        synchronized (lock) {
            if (++plain == 2) lock.notifyAll();
            else Litmus.await(lock);
        }
    }

    private void waitsAWhile(Object lock) {
        synchronized (lock) {
            try {
                lock.wait(1000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void waitsInterruptibly() {
        synchronized (lock) {
            try {
                lock.wait();
            } catch (InterruptedException e) {
                plain = 1;
            }
        }
    }

    /** The first thread, and others that are given it. */
    @FunctionalInterface
    private interface About {
        void act(Thread first);
    }

    private static void about(Runnable body, About... others) throws InterruptedException {
        Thread first = new Thread(body);
        Thread[] threads = new Thread[others.length];
        for (int i = 0; i < others.length; i++) {
            About other = others[i];
            threads[i] = new Thread(() -> other.act(first));
        }
        first.start();
        for (Thread t : threads) t.start();
        first.join();
        for (Thread t : threads) t.join();
    }

    void run(String what) throws InterruptedException {
        switch (what) {
            case "nested" -> Litmus.together(() -> eat(lock, other), () -> eat(lock, other));
            case "philosophers" -> Litmus.together(
                    () -> eat(lock, other), () -> eat(other, third), () -> eat(third, lock));
            case "attempt" -> Litmus.together(
                    () -> {
                        mutex.lock();
                        mutex.unlock();
                    },
                    () -> {
                        if (mutex.tryLock()) mutex.unlock();
                    });
            case "readers1" -> {
                Runnable reader = () -> {
                    readWrite.readLock().lock();
                    readWrite.readLock().unlock();
                };
                Litmus.together(reader, reader);
            }
            case "readwrite" -> Litmus.together(
                    () -> {
                        readWrite.readLock().lock();
                        Litmus.consume(plain);
                        readWrite.readLock().unlock();
                    },
                    () -> {
                        readWrite.writeLock().lock();
                        plain = 1;
                        readWrite.writeLock().unlock();
                    });
            case "notifyone" -> Litmus.together(this::waits, this::waits, () -> {
                synchronized (lock) {
                    lock.notify();
                }
            });
            case "notifyall" -> Litmus.together(this::waits, this::waits, () -> {
                synchronized (lock) {
                    lock.notifyAll();
                }
            });
            case "guarded" -> Litmus.together(this::waitsUntilReady, this::waitsUntilReady, () -> {
                synchronized (lock) {
                    ready = true;
                    lock.notifyAll();
                }
            });
            case "buffer" -> Litmus.together(
                    () -> {
                        put();
                        put();
                    },
                    () -> {
                        take();
                        take();
                    });
            case "arrive2" -> Litmus.together(this::arrive, this::arrive);
            case "timedwait" -> Litmus.together(() -> waitsAWhile(lock), () -> {
                synchronized (lock) {
                    lock.notify();
                }
            });
            case "interruptwait" -> about(this::waitsInterruptibly, Thread::interrupt);
            case "unpark2" -> about(LockSupport::park, LockSupport::unpark, LockSupport::unpark);
            case "park2" -> about(
                    () -> {
                        LockSupport.park();
                        LockSupport.park();
                    },
                    LockSupport::unpark,
                    LockSupport::unpark);
            case "parkinterrupt" -> about(LockSupport::park, LockSupport::unpark, Thread::interrupt);
            case "interrupted" -> about(
                    () -> {
                        boolean first = Thread.interrupted();
                        boolean second = Thread.interrupted();
                        if (first && second) throw new AssertionError("it was cleared");
                    },
                    Thread::interrupt);
            case "alive" -> {
                Thread thread = new Thread(() -> plain = 1);
                thread.start();
                if (!thread.isAlive()) Litmus.consume(plain);
                thread.join();
            }
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Blocking().run(args[0]);
    }
}
