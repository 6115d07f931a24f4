package papers;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Thread-safe collections of which two threads share one iterator, which is not: what JRF-E found in the Amino library
 * (tables 3 and 4), which is not used here. The iterators have the fields that raced
 * there; what they walk over is a queue of the JDK.
 *
 * <p>Argument: {@code cursor}, {@code list}, {@code item} or {@code node}.
 */
public final class SharedIterators {
    private SharedIterators() {}

    private static List<Integer> elements() {
        return List.copyOf(new ConcurrentLinkedQueue<>(List.of(1, 2)));
    }

    /** As in the deques and the priority queue: a position. */
    private static final class CursorIterator implements Runnable {
        private final List<Integer> elements = elements();
        private int cursor;

        @Override
        public void run() {
            if (cursor < elements.size()) { // race: iterators
                cursor++; // race: iterators
            }
        }
    }

    /** As in the lists and the set: where it is, where it was, what comes. */
    private static final class ListIterator implements Runnable {
        private Integer prev;
        private Integer cur = 0;
        private Integer next = 1;

        @Override
        public void run() {
            prev = cur; // race: iterators
            cur = next; // race: iterators
            next = cur + 1; // race: iterators
        }

        Integer previous() {
            return prev;
        }
    }

    /** As in the queue: the next item is kept, so that it can still be handed out. */
    private static final class ItemIterator implements Runnable {
        private final List<Integer> elements = elements();
        private int nextNode;
        private Integer nextItem = 1;
        private Integer lastReturned;

        @Override
        public void run() {
            lastReturned = nextItem; // race: iterators
            nextItem = elements.get(nextNode % 2); // race: iterators
            nextNode = lastReturned; // race: iterators
        }
    }

    /** As in the queue itself: a link back that is set after the node was published. */
    private static final class Queue implements Runnable {
        private static final class Node {
            private Node prev;
        }

        private volatile Node tail = new Node();

        @Override
        public void run() {
            Node mine = new Node();
            Node before = tail;
            tail = mine;
            mine.prev = before; // race: iterators
            Node last = tail;
            if (last.prev == null) { // race: iterators
                last.prev = before; // race: iterators
            }
        }
    }

    private static Runnable make(String kind) {
        switch (kind) {
            case "cursor":
                return new CursorIterator();
            case "list":
                return new ListIterator();
            case "item":
                return new ItemIterator();
            case "node":
                return new Queue();
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Runnable shared = make(args[0]);
        Thread first = new Thread(shared, "first");
        Thread second = new Thread(shared, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        if (shared instanceof ListIterator) {
            System.out.println(((ListIterator) shared).previous() != null);
        }
        System.out.println("done");
    }
}
