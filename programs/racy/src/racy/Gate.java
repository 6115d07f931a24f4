package racy;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Holds everybody back until all have arrived; works once.
 *
 * <p>What orders threads here lies wholly before the gate: each party passes it,
 * then does its access with no synchronisation in between. So the accesses of
 * different parties are unordered in every run, whoever is quicker.
 */
final class Gate {
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final int parties;
    private final AtomicInteger arrived = new AtomicInteger();

    Gate(int parties) {
        this.parties = parties;
    }

    void pass() {
        arrived.incrementAndGet();
        long start = System.nanoTime();
        while (arrived.get() < parties) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new IllegalStateException("the other party never came");
            }
            Thread.yield();
        }
    }
}
