package racy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Collections of java.util that were never meant to be shared. The race is in
 * their own fields, so the marked lines are those of the callers.
 */
final class Containers {
    private Containers() {}

    /** New keys, in different buckets: only the bookkeeping is shared. */
    static final class HashMapPut implements Section {
        final Map<Integer, String> map = new HashMap<>();

        @Override
        public void run() throws Exception {
            map.put(0, "zero");
            Duel.run(
                    () -> map.put(1, "one"), // race: hash-map-put
                    () -> map.put(2, "two")); // race: hash-map-put
        }
    }

    /** An old key: nothing changes but its value. */
    static final class HashMapValue implements Section {
        final Map<Integer, String> map = new HashMap<>();
        String seen;

        @Override
        public void run() throws Exception {
            map.put(0, "zero");
            Duel.run(
                    () -> map.put(0, "nought"), // race: hash-map-value
                    () -> seen = map.get(0)); // race: hash-map-value
        }
    }

    /** One more key makes the table grow under the feet of a reader. */
    static final class HashMapResize implements Section {
        final Map<Integer, String> map = new HashMap<>(2);
        String seen;

        @Override
        public void run() throws Exception {
            map.put(0, "zero");
            Duel.run(
                    () -> map.put(1, "one"), // race: hash-map-resize
                    () -> seen = map.get(0)); // race: hash-map-resize
        }
    }

    /** In access order even get() writes. */
    static final class LinkedHashMapGet implements Section {
        final Map<Integer, String> map = new LinkedHashMap<>(16, 0.75f, true);
        String seen;
        String alsoSeen;

        @Override
        public void run() throws Exception {
            map.put(0, "zero");
            map.put(1, "one");
            Duel.run(
                    () -> seen = map.get(0), // race: linked-hash-map-get
                    () -> alsoSeen = map.get(1)); // race: linked-hash-map-get
        }
    }

    static final class TreeMapValue implements Section {
        final Map<Integer, String> map = new TreeMap<>();
        String seen;

        @Override
        public void run() throws Exception {
            map.put(0, "zero");
            Duel.run(
                    () -> map.put(0, "nought"), // race: tree-map-value
                    () -> seen = map.get(0)); // race: tree-map-value
        }
    }

    static final class ArrayListAdd implements Section {
        final List<String> list = new ArrayList<>(16);

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> list.add("a"), // race: array-list-add
                    () -> list.add("b")); // race: array-list-add
        }
    }

    static final class ArrayListSet implements Section {
        final List<String> list = new ArrayList<>(16);
        String seen;

        @Override
        public void run() throws Exception {
            list.add("a");
            Duel.run(
                    () -> list.set(0, "b"), // race: array-list-set
                    () -> seen = list.get(0)); // race: array-list-set
        }
    }

    static final class IteratorAgainstAdd implements Section {
        final List<String> list = new ArrayList<>(16);

        @Override
        public void run() throws Exception {
            list.add("a");
            walk(list);
            Duel.run(
                    () -> walk(list), // race: iterator-against-add
                    () -> list.add("b")); // race: iterator-against-add
        }
    }

    /** The wrapper locks every call, but a walk is many calls. */
    static final class SynchronizedListWalk implements Section {
        final List<String> list = Collections.synchronizedList(new ArrayList<>(16));

        @Override
        public void run() throws Exception {
            list.add("a");
            walk(list);
            Duel.run(
                    () -> walk(list), // race: synchronized-list-walk
                    () -> list.add("b")); // race: synchronized-list-walk
        }
    }

    static final class LinkedListAdd implements Section {
        final List<String> list = new LinkedList<>();

        @Override
        public void run() throws Exception {
            list.add("a");
            Duel.run(
                    () -> list.add("b"), // race: linked-list-add
                    () -> list.add("c")); // race: linked-list-add
        }
    }

    static final class LinkedListSet implements Section {
        final List<String> list = new LinkedList<>();
        String seen;

        @Override
        public void run() throws Exception {
            list.add("a");
            Duel.run(
                    () -> list.set(0, "b"), // race: linked-list-set
                    () -> seen = list.get(0)); // race: linked-list-set
        }
    }

    static final class ArrayDequeAdd implements Section {
        final ArrayDeque<String> deque = new ArrayDeque<>();

        @Override
        public void run() throws Exception {
            Duel.run(
                    () -> deque.addLast("a"), // race: array-deque-add
                    () -> deque.addLast("b")); // race: array-deque-add
        }
    }

    static final class PriorityQueueOffer implements Section {
        final PriorityQueue<Integer> queue = new PriorityQueue<>();

        @Override
        public void run() throws Exception {
            queue.offer(0);
            queue.offer(1);
            Duel.run(
                    () -> queue.offer(2), // race: priority-queue-offer
                    () -> queue.offer(3)); // race: priority-queue-offer
        }
    }

    /** Different bits, the same word. */
    static final class BitSetSet implements Section {
        final BitSet bits = new BitSet(64);

        @Override
        public void run() throws Exception {
            bits.set(0);
            Duel.run(
                    () -> bits.set(1), // race: bit-set
                    () -> bits.set(2)); // race: bit-set
        }
    }

    /** The map is safe, what is in it is not. */
    static final class ConcurrentMapValue implements Section {
        static final class Count {
            int n;
        }

        final Map<String, Count> counts = new ConcurrentHashMap<>();

        @Override
        public void run() throws Exception {
            counts.put("a", new Count());
            Duel.run(
                    () -> counts.get("a").n++, // race: concurrent-map-value
                    () -> counts.get("a").n++); // race: concurrent-map-value
        }
    }

    /** Iterates to the end, or until the iterator notices what is going on. */
    private static void walk(List<String> list) {
        try {
            Iterator<String> it = list.iterator();
            while (it.hasNext()) {
                it.next();
            }
        } catch (ConcurrentModificationException e) {
            // That is what such an iterator does at best.
        }
    }
}
