package vthreads;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** What is the same for virtual and for platform threads when a scheduler decides who goes on. */
public final class Controlled {
    private static final Object A = new Object();
    private static final Object B = new Object();
    private static int count;
    private static volatile boolean told;

    private Controlled() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "locks-virtual" -> both(Thread.ofVirtual(), Controlled::locks, Controlled::locks);
            case "locks-platform" -> both(Thread.ofPlatform(), Controlled::locks, Controlled::locks);
            case "deadlock" -> both(Thread.ofVirtual(), () -> nested(A, B), () -> nested(B, A));
            case "joins-virtual" -> joins(Thread.ofVirtual());
            case "joins-platform" -> joins(Thread.ofPlatform());
            case "timed" -> both(Thread.ofVirtual(), Controlled::sleeps, Controlled::waits);
            case "parked" -> parked();
            case "reads" -> both(Thread.ofVirtual(), Controlled::reads, Controlled::locks);
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }

    private static void both(Thread.Builder builder, Runnable first, Runnable second) throws InterruptedException {
        Thread one = builder.name("one").start(first);
        Thread two = builder.name("two").start(second);
        one.join();
        two.join();
    }

    private static final ReentrantLock LOCK = new ReentrantLock();

    /** Six operations on the lock. */
    private static void locks() {
        for (int i = 0; i < 3; i++) {
            LOCK.lock();
            count++;
            LOCK.unlock();
        }
    }

    private static Thread last;

    /** Each waits, with a monitor, for the end of the one that had the monitor before. */
    private static void joins(Thread.Builder builder) throws InterruptedException {
        Thread[] all = new Thread[3];
        for (int i = 0; i < all.length; i++) all[i] = builder.unstarted(Controlled::joinsLast);
        for (Thread thread : all) thread.start();
        for (Thread thread : all) thread.join();
    }

    private static void joinsLast() {
        synchronized (A) {
            try {
                if (last != null) last.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            last = Thread.currentThread();
        }
    }

    private static void nested(Object outer, Object inner) {
        synchronized (outer) {
            synchronized (inner) {
                count++;
            }
        }
    }

    /** An hour in virtual time. */
    private static void sleeps() {
        try {
            Thread.sleep(3_600_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waits() {
        synchronized (A) {
            try {
                A.wait(3_600_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** For ever, if nobody writes. */
    private static void reads() {
        try {
            System.in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void parked() throws InterruptedException {
        Thread thread = Thread.startVirtualThread(() -> {
            while (!told) LockSupport.park();
        });
        told = true;
        LockSupport.unpark(thread);
        thread.join();
    }
}
