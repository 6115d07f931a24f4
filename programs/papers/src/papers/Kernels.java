package papers;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Numeric kernels of two threads after the Java Grande Forum's suite, with the faults that the papers found there. Stand
 * for moldyn, raytracer, montecarlo, sor and lufact (RaceFuzzer, jPredictor, JRF-E), for BarrierBench and SyncBench (JRF-E).
 *
 * <p>Arguments: which kernel, how its threads wait for each other ({@code monitor}: properly; {@code flags}: by elements of
 * an array behind a volatile reference, which are not volatile), and a size.
 */
public final class Kernels {
    private static final int THREADS = 2;

    private final boolean flags;
    private final int size;
    /** As in the benchmark: the reference is volatile, and its elements are not. */
    private volatile int[] isDone = new int[THREADS];

    private int waiting;
    private int round;

    /** Of raytracer: every thread adds its part, without a lock. */
    private long checksum;
    /** Of montecarlo: every thread sets it to the same. */
    private static boolean debug;
    /** Of moldyn: every thread sets them to the same. */
    private int interactions;
    private double energy;
    /** Of SyncBench: counted under a lock here, and without one there. */
    private int sharedCount;

    private Kernels(boolean flags, int size) {
        this.flags = flags;
        this.size = size;
    }

    private void meet(int me) {
        if (flags) {
            int mine = isDone[me] + 1;
            isDone[me] = mine; // race: kernels
            while (isDone[1 - me] < mine) { // race: kernels
                Thread.onSpinWait();
            }
            return;
        }
        synchronized (this) {
            int now = round;
            waiting++;
            if (waiting == THREADS) {
                waiting = 0;
                round++;
                notifyAll();
            }
            while (round == now) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static double fraction(int n) {
        return (n * 2_654_435_761L >>> 8 & 0xffff) / 65_536.0;
    }

    /** Red and black points by turns. */
    private void sor(int me, double[][] grid) {
        for (int half = 0; half < 4; half++) {
            for (int i = 1 + me; i < size - 1; i += THREADS) {
                for (int j = 1 + (i + half) % 2; j < size - 1; j += 2) {
                    double mean = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) * 0.25;
                    grid[i][j] += 1.25 * (mean - grid[i][j]);
                }
            }
            meet(me);
        }
    }

    /** Elimination column by column; the rows below are shared out. */
    private void lufact(int me, double[][] rows) {
        for (int k = 0; k < size - 1; k++) {
            for (int i = k + 1; i < size; i++) {
                if (i % THREADS == me) {
                    double factor = rows[i][k] / (rows[k][k] + size);
                    for (int j = k; j < size; j++) {
                        rows[i][j] -= factor * rows[k][j];
                    }
                }
            }
            meet(me);
        }
    }

    /** Forces of every particle on every other; each thread moves its own. */
    private void moldyn(int me, double[][] place) {
        for (int step = 0; step < 3; step++) {
            double force = 0;
            for (int i = me; i < size; i += THREADS) {
                for (int j = 0; j < size; j++) {
                    force += i == j ? 0 : 1 / (0.1 + Math.abs(place[0][i] - place[0][j]));
                }
            }
            meet(me);
            for (int i = me; i < size; i += THREADS) {
                place[0][i] += force * 1e-6;
            }
            interactions = size * (size - 1); // race: kernels
            energy = interactions * 0.5; // race: kernels
            meet(me);
        }
    }

    private void raytracer(int me) {
        long part = 0;
        for (int y = me; y < size; y += THREADS) {
            for (int x = 0; x < size; x++) {
                part += (long) (255 * Math.abs(Math.sin(x * 0.1) * Math.cos(y * 0.1)));
            }
        }
        checksum += part; // race: kernels
    }

    private double montecarlo(int me) {
        debug = true; // race: kernels
        double sum = 0;
        for (int i = me; i < size; i += THREADS) {
            sum += Math.sqrt(fraction(i));
        }
        return sum;
    }

    private void count(int me) {
        for (int i = 0; i < size; i++) {
            if (me == 0) {
                synchronized (this) {
                    sharedCount++; // race: kernels
                }
            } else {
                sharedCount++; // race: kernels
            }
        }
    }

    private void run(String kernel, int me, double[][] data) {
        switch (kernel) {
            case "sor":
                sor(me, data);
                break;
            case "lufact":
                lufact(me, data);
                break;
            case "moldyn":
                moldyn(me, data);
                break;
            case "raytracer":
                raytracer(me);
                break;
            case "montecarlo":
                montecarlo(me);
                break;
            case "barrier":
                meet(me);
                meet(me);
                break;
            case "counter":
                count(me);
                break;
            default:
                throw new IllegalArgumentException(kernel);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = Integer.parseInt(args[2]);
        Kernels kernels = new Kernels(args[1].equals("flags"), size);
        double[][] data = new double[size][size];
        for (int i = 0; i < size * size; i++) {
            data[i / size][i % size] = fraction(i);
        }
        AtomicInteger ended = new AtomicInteger();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                kernels.run(args[0], me, data);
                ended.incrementAndGet();
            }, "member " + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(ended + " done");
    }
}
