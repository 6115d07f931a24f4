package bench;

import java.util.concurrent.ArrayBlockingQueue;

/**
 * Producers and consumers: half of the parcels go through a buffer of our own, with
 * wait and notify, the other half through an ArrayBlockingQueue.
 */
public final class Pipeline {
    private static final int CAPACITY = 256;

    private static final class Parcel {
        int number;
        int weight;
    }

    private static final class Buffer {
        private final Parcel[] slots = new Parcel[CAPACITY];
        private int first;
        private int count;

        synchronized void put(Parcel parcel) throws InterruptedException {
            while (count == CAPACITY) {
                wait();
            }
            slots[(first + count) % CAPACITY] = parcel;
            count++;
            notifyAll();
        }

        synchronized Parcel take() throws InterruptedException {
            while (count == 0) {
                wait();
            }
            Parcel parcel = slots[first];
            slots[first] = null;
            first = (first + 1) % CAPACITY;
            count--;
            notifyAll();
            return parcel;
        }
    }

    private Pipeline() {}

    public static void main(String[] args) throws InterruptedException {
        Team team = Team.of(args, 12_000_000);
        int pairs = Math.max(1, team.threads / 2);
        int each = team.size / pairs;
        long[] sums = new long[pairs];
        Thread[] threads = new Thread[2 * pairs];
        for (int p = 0; p < pairs; p++) {
            int me = p;
            Buffer buffer = new Buffer();
            ArrayBlockingQueue<Parcel> queue = new ArrayBlockingQueue<>(CAPACITY);
            threads[2 * p] = new Thread(() -> {
                try {
                    for (int i = 0; i < each; i++) {
                        Parcel parcel = new Parcel();
                        parcel.number = i;
                        parcel.weight = i * 7 & 0xFF;
                        if (i % 2 == 0) {
                            buffer.put(parcel);
                        } else {
                            queue.put(parcel);
                        }
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[2 * p + 1] = new Thread(() -> {
                try {
                    long sum = 0;
                    for (int i = 0; i < each; i++) {
                        Parcel parcel = i % 2 == 0 ? buffer.take() : queue.take();
                        parcel.weight++;
                        sum = sum * 3 + parcel.number + parcel.weight;
                    }
                    sums[me] = sum;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long sum = 0;
        for (long one : sums) {
            sum += one;
        }
        System.out.println(sum);
    }
}
