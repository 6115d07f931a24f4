package ordered;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** What was done to an element before it went into a queue is seen by whoever takes it out. */
final class Queues {
    private static final int ITEMS = 20;

    private Queues() {}

    /** An element with plain contents; the number it is sorted by never changes. */
    static final class Item implements Delayed {
        private final int rank;
        private final Payload data = new Payload();

        Item(int rank) {
            this.rank = rank;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return Integer.compare(rank, ((Item) other).rank);
        }
    }

    /** One thread produces, the caller consumes. */
    abstract static class Pipe implements Section {
        abstract void send(Item item) throws Exception;

        abstract Item receive() throws Exception;

        @Override
        public final void run() throws Exception {
            Worker producer = Worker.start(() -> {
                for (int n = 1; n <= ITEMS; n++) {
                    Item item = new Item(n);
                    item.data.put(n);
                    send(item);
                }
            });
            for (int n = 1; n <= ITEMS; n++) {
                Item item = receive();
                item.data.expect(item.rank);
                item.data.put(item.rank + 1);
            }
            producer.finish();
        }
    }

    /** With put and take, as every blocking queue has them. */
    abstract static class Blocking extends Pipe {
        private final BlockingQueue<Item> queue;

        Blocking(BlockingQueue<Item> queue) {
            this.queue = queue;
        }

        @Override
        void send(Item item) throws InterruptedException {
            queue.put(item);
        }

        @Override
        Item receive() throws InterruptedException {
            return queue.take();
        }
    }

    static final class ArrayBlocking extends Blocking {
        ArrayBlocking() {
            super(new ArrayBlockingQueue<>(2));
        }
    }

    static final class LinkedBlocking extends Blocking {
        LinkedBlocking() {
            super(new LinkedBlockingQueue<>());
        }
    }

    static final class LinkedBlockingBounded extends Blocking {
        LinkedBlockingBounded() {
            super(new LinkedBlockingQueue<>(1));
        }
    }

    static final class BlockingDeque extends Pipe {
        private final LinkedBlockingDeque<Item> deque = new LinkedBlockingDeque<>(3);

        @Override
        void send(Item item) throws InterruptedException {
            deque.putFirst(item);
        }

        @Override
        Item receive() throws InterruptedException {
            return deque.takeLast();
        }
    }

    static final class PriorityBlocking extends Blocking {
        PriorityBlocking() {
            super(new PriorityBlockingQueue<>());
        }
    }

    static final class Delay extends Pipe {
        private final DelayQueue<Item> queue = new DelayQueue<>();

        @Override
        void send(Item item) {
            queue.put(item);
        }

        @Override
        Item receive() throws InterruptedException {
            return queue.take();
        }
    }

    static final class Synchronous extends Blocking {
        Synchronous() {
            super(new SynchronousQueue<>());
        }
    }

    static final class SynchronousFair extends Blocking {
        SynchronousFair() {
            super(new SynchronousQueue<>(true));
        }
    }

    static final class Transfer extends Blocking {
        Transfer() {
            super(new LinkedTransferQueue<>());
        }
    }

    /** The producer goes on only when its element was taken. */
    static final class TransferAwaited extends Pipe {
        private final LinkedTransferQueue<Item> queue = new LinkedTransferQueue<>();

        @Override
        void send(Item item) throws InterruptedException {
            queue.transfer(item);
        }

        @Override
        Item receive() throws InterruptedException {
            return queue.take();
        }
    }

    /** Offers and polls that give up after a while, and are tried again. */
    static final class Timed extends Pipe {
        private final ArrayBlockingQueue<Item> queue = new ArrayBlockingQueue<>(1, true);

        @Override
        void send(Item item) throws InterruptedException {
            while (!queue.offer(item, 100, TimeUnit.MICROSECONDS)) {
                Thread.yield();
            }
        }

        @Override
        Item receive() throws InterruptedException {
            Item item;
            do {
                item = queue.poll(100, TimeUnit.MICROSECONDS);
            } while (item == null);
            return item;
        }
    }

    /** Takes out whatever is there, all at once. */
    static final class Drain extends Pipe {
        private final LinkedBlockingQueue<Item> queue = new LinkedBlockingQueue<>();
        private final List<Item> taken = new ArrayList<>();

        @Override
        void send(Item item) {
            queue.add(item);
        }

        @Override
        Item receive() {
            while (taken.isEmpty()) {
                queue.drainTo(taken);
                Thread.yield();
            }
            return taken.remove(0);
        }
    }

    static final class Linked extends Pipe {
        private final ConcurrentLinkedQueue<Item> queue = new ConcurrentLinkedQueue<>();

        @Override
        void send(Item item) {
            queue.offer(item);
        }

        @Override
        Item receive() {
            Item item;
            while ((item = queue.poll()) == null) {
                Thread.yield();
            }
            return item;
        }
    }

    static final class LinkedDeque extends Pipe {
        private final ConcurrentLinkedDeque<Item> deque = new ConcurrentLinkedDeque<>();

        @Override
        void send(Item item) {
            deque.offerFirst(item);
        }

        @Override
        Item receive() {
            Item item;
            while ((item = deque.pollLast()) == null) {
                Thread.yield();
            }
            return item;
        }
    }
}
