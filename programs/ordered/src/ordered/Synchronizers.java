package ordered;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Semaphores, latches, barriers and meeting points. */
final class Synchronizers {
    private Synchronizers() {}

    static final class SemaphoreMutex extends Exclusion {
        private final Semaphore permit = new Semaphore(1);

        @Override
        void locked(Runnable body) throws InterruptedException {
            permit.acquire();
            try {
                body.run();
            } finally {
                permit.release();
            }
        }
    }

    static final class SemaphoreFairTry extends Exclusion {
        private final Semaphore permits = new Semaphore(3, true);

        @Override
        void locked(Runnable body) throws InterruptedException {
            if (!permits.tryAcquire(3, 60, TimeUnit.SECONDS)) {
                throw new AssertionError("no permits after a minute");
            }
            try {
                body.run();
            } finally {
                permits.release(3);
            }
        }
    }

    /** Permits that were not there in the beginning: released by one, acquired by the other. */
    static final class SemaphoreSignal implements Section {
        private final Semaphore items = new Semaphore(0);
        private final Payload first = new Payload();
        private final Payload second = new Payload();

        @Override
        public void run() throws Exception {
            Worker one = Worker.start(() -> {
                first.put(1);
                items.release();
            });
            Worker two = Worker.start(() -> {
                second.put(2);
                items.release();
            });
            items.acquireUninterruptibly(2);
            first.expect(1);
            second.expect(2);
            one.finish();
            two.finish();
        }
    }

    static final class Latch implements Section {
        private final CountDownLatch latch = new CountDownLatch(2);
        private final Payload first = new Payload();
        private final Payload second = new Payload();

        @Override
        public void run() throws Exception {
            Worker one = Worker.start(() -> {
                first.put(1);
                latch.countDown();
            });
            Worker two = Worker.start(() -> {
                second.put(2);
                latch.countDown();
            });
            latch.await();
            first.expect(1);
            second.expect(2);
            one.finish();
            two.finish();
        }
    }

    static final class LatchTimed implements Section {
        private final CountDownLatch latch = new CountDownLatch(1);
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                latch.countDown();
            });
            while (!latch.await(100, TimeUnit.MICROSECONDS)) {
                Thread.yield();
            }
            data.expect(1);
            writer.finish();
        }
    }

    /** Looks at the count instead of waiting for it. */
    static final class LatchPolled implements Section {
        private final CountDownLatch latch = new CountDownLatch(1);
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            Worker writer = Worker.start(() -> {
                data.put(1);
                latch.countDown();
            });
            while (latch.getCount() != 0) {
                Thread.yield();
            }
            data.expect(1);
            writer.finish();
        }
    }

    /** Everybody writes, everybody meets, everybody reads what the others wrote. */
    static final class Barrier implements Section {
        private final CyclicBarrier barrier = new CyclicBarrier(3);
        private final Payload[] data = {new Payload(), new Payload(), new Payload()};

        @Override
        public void run() throws Exception {
            Worker one = Worker.start(() -> play(1));
            Worker two = Worker.start(() -> play(2));
            play(0);
            one.finish();
            two.finish();
        }

        private void play(int me) throws Exception {
            for (int round = 1; round <= 3; round++) {
                data[me].put(round);
                barrier.await();
                for (Payload each : data) {
                    each.expect(round);
                }
                barrier.await();
            }
        }
    }

    /** The action runs after all have come and before any goes on. */
    static final class BarrierAction implements Section {
        private final Payload[] data = {new Payload(), new Payload()};
        private final Payload summary = new Payload();
        private int round;
        private final CyclicBarrier barrier = new CyclicBarrier(2, () -> {
            round++;
            for (Payload each : data) {
                each.expect(round);
            }
            summary.put(round);
        });

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(1));
            play(0);
            other.finish();
        }

        private void play(int me) throws Exception {
            for (int n = 1; n <= 3; n++) {
                data[me].put(n);
                barrier.await(60, TimeUnit.SECONDS);
                summary.expect(n);
            }
        }
    }

    static final class PhaserMeet implements Section {
        private final Phaser phaser = new Phaser(2);
        private final Payload[] data = {new Payload(), new Payload()};

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(1));
            play(0);
            other.finish();
        }

        private void play(int me) {
            for (int round = 1; round <= 3; round++) {
                data[me].put(round);
                phaser.arriveAndAwaitAdvance();
                data[1 - me].expect(round);
                phaser.arriveAndAwaitAdvance();
            }
        }
    }

    /** One arrives and goes on, the other awaits the phase. */
    static final class PhaserArrive implements Section {
        private final Phaser phaser = new Phaser(1);
        private final Payload data = new Payload();

        @Override
        public void run() throws Exception {
            int phase = phaser.getPhase();
            Worker writer = Worker.start(() -> {
                data.put(1);
                phaser.arrive();
            });
            phaser.awaitAdvance(phase);
            data.expect(1);
            writer.finish();
        }
    }

    /** Leaving for good counts as arriving. */
    static final class PhaserDeregister implements Section {
        private final Phaser phaser = new Phaser(1);
        private final Payload first = new Payload();
        private final Payload second = new Payload();

        @Override
        public void run() throws Exception {
            phaser.bulkRegister(2);
            Worker one = Worker.start(() -> {
                first.put(1);
                phaser.arriveAndDeregister();
            });
            Worker two = Worker.start(() -> {
                second.put(2);
                phaser.arriveAndDeregister();
            });
            phaser.arriveAndAwaitAdvance();
            first.expect(1);
            second.expect(2);
            one.finish();
            two.finish();
        }
    }

    /** onAdvance sees what all parties did; they see what it did. */
    static final class PhaserOnAdvance implements Section {
        private final Payload[] data = {new Payload(), new Payload()};
        private final Payload summary = new Payload();
        private final Phaser phaser = new Phaser(2) {
            @Override
            protected boolean onAdvance(int phase, int parties) {
                for (Payload each : data) {
                    each.expect(phase + 1);
                }
                summary.put(phase + 1);
                return phase == 2;
            }
        };

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(1));
            play(0);
            other.finish();
        }

        private void play(int me) {
            for (int n = 1; n <= 3; n++) {
                data[me].put(n);
                phaser.arriveAndAwaitAdvance();
                summary.expect(n);
            }
        }
    }

    /** What each hands over is plain, and the other's from then on. */
    static final class Exchange implements Section {
        private final Exchanger<Payload> exchanger = new Exchanger<>();

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(100));
            play(200);
            other.finish();
        }

        private void play(int base) throws InterruptedException {
            Payload mine = new Payload();
            for (int n = 1; n <= 5; n++) {
                mine.put(base + n);
                mine = exchanger.exchange(mine);
                mine.expect(300 - base + n);
            }
        }
    }

    static final class ExchangeTimed implements Section {
        private final Exchanger<Payload> exchanger = new Exchanger<>();

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(() -> play(100));
            play(200);
            other.finish();
        }

        private void play(int base) throws Exception {
            Payload mine = new Payload();
            mine.put(base);
            exchanger.exchange(mine, 60, TimeUnit.SECONDS).expect(300 - base);
        }
    }
}
