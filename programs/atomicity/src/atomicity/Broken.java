package atomicity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Every step is thread-safe, and two of them together are not: no data race, and a value that is stale when used. */
public final class Broken {
    private Broken() {}

    static final class Account {
        private int balance = 100;

        synchronized int balance() {
            return balance;
        }

        synchronized void set(int to) {
            balance = to;
        }

        void deposit(int amount) {
            set(balance() + amount);
        }

        boolean withdraw(int amount) {
            if (balance() < amount) {
                return false;
            }
            set(balance() - amount);
            return true;
        }
    }

    static final class Lazy {
        private Object instance;

        synchronized Object instance() {
            return instance;
        }

        synchronized void instance(Object made) {
            instance = made;
        }

        Object get() {
            if (instance() == null) {
                instance(new Object());
            }
            return instance();
        }
    }

    static final class Highest {
        private int max;

        synchronized int max() {
            return max;
        }

        synchronized void max(int to) {
            max = to;
        }

        void saw(int value) {
            if (value > max()) {
                max(value);
            }
        }
    }

    static final class Guarded {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private String text;

        void fill(String with) {
            boolean empty;
            lock.readLock().lock();
            try {
                empty = text == null;
            } finally {
                lock.readLock().unlock();
            }
            if (empty) {
                lock.writeLock().lock();
                try {
                    text = with;
                } finally {
                    lock.writeLock().unlock();
                }
            }
        }
    }

    static final class Split {
        private final ReentrantLock lock = new ReentrantLock();
        private int total;

        void add(int amount) {
            lock.lock();
            int seen = total;
            lock.unlock();
            int sum = seen + amount;
            lock.lock();
            total = sum;
            lock.unlock();
        }
    }

    static final class Visits {
        volatile int count;

        void visit() {
            count = count + 1;
        }
    }

    static final class Node {
        final Node next;

        Node(Node next) {
            this.next = next;
        }
    }

    private static void absent(Map<String, Integer> map) {
        if (!map.containsKey("k")) {
            map.put("k", 1);
        }
    }

    private static void missing(Map<String, Integer> map) {
        if (map.get("k") == null) {
            map.put("k", 1);
        }
    }

    private static void once(List<String> list) {
        if (!list.contains("x")) {
            list.add("x");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "deposit" -> {
                Account account = new Account();
                Pair.both(() -> account.deposit(30));
                System.out.println(account.balance());
            }
            case "withdraw" -> {
                Account account = new Account();
                Pair.both(() -> account.withdraw(80));
                System.out.println(account.balance());
            }
            case "lazy" -> {
                Lazy lazy = new Lazy();
                Pair.both(lazy::get);
            }
            case "highest" -> {
                Highest highest = new Highest();
                Pair.run(() -> highest.saw(3), () -> highest.saw(5));
                System.out.println(highest.max());
            }
            case "read-lock" -> {
                Guarded guarded = new Guarded();
                Pair.both(() -> guarded.fill(Thread.currentThread().getName()));
            }
            case "split" -> {
                Split split = new Split();
                Pair.both(() -> split.add(1));
                System.out.println(split.total);
            }
            case "volatile" -> {
                Visits visits = new Visits();
                Pair.both(visits::visit);
                System.out.println(visits.count);
            }
            case "atomic-set" -> {
                AtomicInteger count = new AtomicInteger();
                Pair.both(() -> count.set(count.get() + 1));
                System.out.println(count);
            }
            case "atomic-limit" -> {
                AtomicInteger count = new AtomicInteger();
                Pair.both(() -> {
                    if (count.get() < 1) {
                        count.incrementAndGet();
                    }
                });
                System.out.println(count);
            }
            case "reference" -> {
                AtomicReference<Node> top = new AtomicReference<>();
                Pair.both(() -> top.set(new Node(top.get())));
            }
            case "once" -> {
                AtomicBoolean done = new AtomicBoolean();
                Pair.both(() -> {
                    if (!done.get()) {
                        done.set(true);
                    }
                });
            }
            case "atomic-array" -> {
                AtomicIntegerArray counts = new AtomicIntegerArray(2);
                Pair.both(() -> counts.set(1, counts.get(1) + 1));
                System.out.println(counts);
            }
            case "absent" -> {
                Map<String, Integer> map = new ConcurrentHashMap<>();
                Pair.both(() -> absent(map));
                System.out.println(map);
            }
            case "missing" -> {
                Map<String, Integer> map = new ConcurrentHashMap<>();
                Pair.both(() -> missing(map));
                System.out.println(map);
            }
            case "count" -> {
                ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();
                map.put("k", 0);
                Pair.both(() -> map.put("k", map.get("k") + 1));
                System.out.println(map);
            }
            case "count-default" -> {
                ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>();
                Pair.both(() -> map.put("k", map.getOrDefault("k", 0) + 1));
                System.out.println(map);
            }
            case "hashtable" -> {
                Map<String, Integer> map = new Hashtable<>();
                Pair.both(() -> absent(map));
                System.out.println(map);
            }
            case "synchronized-map" -> {
                Map<String, Integer> map = Collections.synchronizedMap(new HashMap<>());
                Pair.both(() -> missing(map));
                System.out.println(map);
            }
            case "vector" -> {
                Vector<String> vector = new Vector<>();
                Pair.both(() -> once(vector));
                System.out.println(vector);
            }
            case "synchronized-list" -> {
                List<String> list = Collections.synchronizedList(new ArrayList<>());
                Pair.both(() -> once(list));
                System.out.println(list);
            }
            case "synchronized-set" -> {
                Set<String> set = Collections.synchronizedSet(new HashSet<>());
                Pair.both(() -> {
                    if (!set.contains("x")) {
                        set.add("x");
                    }
                });
                System.out.println(set);
            }
            case "queue" -> {
                Queue<String> queue = new ConcurrentLinkedQueue<>(List.of("a"));
                Pair.both(() -> {
                    if (!queue.isEmpty()) {
                        queue.remove();
                    }
                });
            }
            case "gone" -> {
                for (int round = 0; round < 2; round++) {
                    Map<String, String> map = new ConcurrentHashMap<>(Map.of("k", "v"));
                    Pair.run(() -> {
                        if (map.containsKey("k")) {
                            System.out.println(map.get("k").length());
                        }
                    }, () -> {
                        Pair.linger();
                        map.remove("k");
                    });
                }
            }
            case "last" -> {
                for (int round = 0; round < 2; round++) {
                    Vector<String> vector = new Vector<>(List.of("a", "b"));
                    Pair.run(() -> System.out.println(vector.get(vector.size() - 1)), () -> {
                        Pair.linger();
                        vector.remove("a");
                    });
                }
            }
            case "iterator" -> {
                for (int round = 0; round < 2; round++) {
                    List<String> list = Collections.synchronizedList(new ArrayList<>(List.of("a", "b")));
                    Pair.run(() -> {
                        for (String each : list) {
                            System.out.println(each);
                        }
                    }, () -> {
                        // An iterator that is made after it has seen it, and nothing can be predicted.
                        Pair.linger();
                        list.add("c");
                    });
                }
            }
            case "walk" -> {
                for (int round = 0; round < 2; round++) {
                    Vector<String> vector = new Vector<>(List.of("a", "b"));
                    Pair.run(() -> {
                        for (String each : vector) {
                            System.out.println(each);
                        }
                    }, () -> {
                        Pair.linger();
                        vector.add("c");
                    });
                }
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
