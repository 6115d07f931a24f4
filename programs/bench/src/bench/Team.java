package bench;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * The arguments that every kernel takes, {@code [SIZE] [--threads N]}, and the
 * threads that run it. Members see what the starter did before; after run() the
 * starter sees what they did.
 */
final class Team {
    final int size;
    final int threads;
    private final CyclicBarrier barrier;

    /** What a member does; members are numbered from 0. */
    interface Body {
        void run(int member);
    }

    private Team(int size, int threads) {
        this.size = size;
        this.threads = threads;
        barrier = new CyclicBarrier(threads);
    }

    static Team of(String[] args, int defaultSize) {
        int size = defaultSize;
        int threads = 2;
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--threads") && i + 1 < args.length) {
                i++;
                threads = positive(args[i]);
            } else {
                size = positive(args[i]);
            }
        }
        return new Team(size, threads);
    }

    private static int positive(String text) {
        int n = Integer.parseInt(text);
        if (n <= 0) {
            throw new IllegalArgumentException("must be positive: " + text);
        }
        return n;
    }

    void run(Body body) {
        Thread[] members = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int me = i;
            members[i] = new Thread(() -> body.run(me), "member-" + i);
            members[i].start();
        }
        for (Thread member : members) {
            try {
                member.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Where a member's share of n things begins; that of the next is where it ends. */
    int from(int member, int n) {
        return (int) ((long) n * member / threads);
    }

    /** Waits for all members. */
    void meet() {
        try {
            barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A cheap random sequence: the same everywhere, with no shared state. */
    static long next(long seed) {
        long x = seed ^ seed << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    /** The n-th number of a fixed sequence between 0 and 1. */
    static double fraction(int n) {
        return (next(next(n * 0x9E3779B97F4A7C15L + 1)) >>> 11) * 0x1p-53;
    }
}
