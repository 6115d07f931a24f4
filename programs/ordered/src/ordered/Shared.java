package ordered;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;

/** Collections that may be shared: what was done before an element went in is seen by who finds it. */
final class Shared {
    private Shared() {}

    /** Payloads by number: one thread puts some in, the caller waits until it finds each. */
    abstract static class Lookup implements Section {
        private static final int ITEMS = 20;

        abstract void store(int key, Payload value);

        /** Null while it is not there. */
        abstract Payload find(int key);

        @Override
        public final void run() throws Exception {
            Worker writer = Worker.start(() -> {
                for (int n = 1; n <= ITEMS; n++) {
                    Payload value = new Payload();
                    value.put(n);
                    store(n, value);
                }
            });
            for (int n = 1; n <= ITEMS; n++) {
                Payload value;
                while ((value = find(n)) == null) {
                    Thread.yield();
                }
                value.expect(n);
            }
            writer.finish();
        }
    }

    static final class HashPut extends Lookup {
        private final ConcurrentMap<Integer, Payload> map = new ConcurrentHashMap<>();

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            return map.get(key);
        }
    }

    /** All keys in one bucket, so that lists and trees of nodes come in. */
    static final class HashCollisions extends Lookup {
        private record Key(int n) {
            @Override
            public int hashCode() {
                return 7;
            }
        }

        private final ConcurrentMap<Key, Payload> map = new ConcurrentHashMap<>();

        @Override
        void store(int key, Payload value) {
            map.putIfAbsent(new Key(key), value);
        }

        @Override
        Payload find(int key) {
            return map.get(new Key(key));
        }
    }

    static final class HashIteration extends Lookup {
        private final ConcurrentMap<Integer, Payload> map = new ConcurrentHashMap<>();

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            for (Map.Entry<Integer, Payload> entry : map.entrySet()) {
                if (entry.getKey() == key) {
                    return entry.getValue();
                }
            }
            return null;
        }
    }

    /** Both ask for the same keys; whoever comes first makes the value. */
    static final class HashComputeIfAbsent implements Section {
        private final ConcurrentMap<Integer, Payload> map = new ConcurrentHashMap<>();

        @Override
        public void run() throws Exception {
            Worker other = Worker.start(this::ask);
            ask();
            other.finish();
        }

        private void ask() {
            for (int n = 1; n <= 20; n++) {
                map.computeIfAbsent(n, Shared::filled).expect(n);
            }
        }
    }

    /** The function runs under the bucket's lock, so it may change what it finds. */
    static final class HashMerge extends Exclusion {
        private final ConcurrentMap<String, Integer> map = new ConcurrentHashMap<>();

        @Override
        void locked(Runnable body) {
            map.merge("key", 1, (before, one) -> {
                body.run();
                return before + one;
            });
        }

        HashMerge() {
            map.put("key", 0);
        }
    }

    static final class HashCompute extends Exclusion {
        private final ConcurrentMap<String, Integer> map = new ConcurrentHashMap<>();

        @Override
        void locked(Runnable body) {
            map.compute("key", (key, before) -> {
                body.run();
                return 1;
            });
        }
    }

    static final class HashKeySet extends Lookup {
        private final Set<Integer> keys = ConcurrentHashMap.newKeySet();
        private final Payload[] values = new Payload[32];

        @Override
        void store(int key, Payload value) {
            values[key] = value;
            keys.add(key);
        }

        @Override
        Payload find(int key) {
            return keys.contains(key) ? values[key] : null;
        }
    }

    static final class SkipListMap extends Lookup {
        private final ConcurrentSkipListMap<Integer, Payload> map = new ConcurrentSkipListMap<>();

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            return map.get(key);
        }
    }

    static final class SkipListCeiling extends Lookup {
        private final ConcurrentSkipListMap<Integer, Payload> map = new ConcurrentSkipListMap<>();

        @Override
        void store(int key, Payload value) {
            map.putIfAbsent(key, value);
        }

        @Override
        Payload find(int key) {
            Map.Entry<Integer, Payload> entry = map.ceilingEntry(key);
            return entry == null ? null : entry.getKey() == key ? entry.getValue() : null;
        }
    }

    static final class SkipListIteration extends Lookup {
        private final ConcurrentSkipListMap<Integer, Payload> map = new ConcurrentSkipListMap<>();

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            for (Map.Entry<Integer, Payload> entry : map.entrySet()) {
                if (entry.getKey() == key) {
                    return entry.getValue();
                }
            }
            return null;
        }
    }

    static final class SkipListSet extends Lookup {
        private final ConcurrentSkipListSet<Integer> keys = new ConcurrentSkipListSet<>();
        private final Payload[] values = new Payload[32];

        @Override
        void store(int key, Payload value) {
            values[key] = value;
            keys.add(key);
        }

        @Override
        Payload find(int key) {
            return keys.contains(key) ? values[key] : null;
        }
    }

    static final class CopyOnWriteList extends Lookup {
        private final List<Payload> list = new CopyOnWriteArrayList<>();

        @Override
        void store(int key, Payload value) {
            list.add(value);
        }

        @Override
        Payload find(int key) {
            for (Payload each : list) {
                if (each.state() == key) {
                    return each;
                }
            }
            return null;
        }
    }

    static final class CopyOnWriteSet extends Lookup {
        private final Set<Payload> set = new CopyOnWriteArraySet<>();

        @Override
        void store(int key, Payload value) {
            set.add(value);
        }

        @Override
        Payload find(int key) {
            for (Payload each : set) {
                if (each.state() == key) {
                    return each;
                }
            }
            return null;
        }
    }

    static final class SynchronizedList extends Lookup {
        private final List<Payload> list = Collections.synchronizedList(new ArrayList<>());

        @Override
        void store(int key, Payload value) {
            list.add(value);
        }

        @Override
        Payload find(int key) {
            return list.size() < key ? null : list.get(key - 1);
        }
    }

    static final class SynchronizedMap extends Lookup {
        private final Map<Integer, Payload> map = Collections.synchronizedMap(new HashMap<>());

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            return map.get(key);
        }
    }

    /** A walk over such a map is many calls: the caller must hold its lock throughout. */
    static final class SynchronizedMapWalk extends Lookup {
        private final Map<Integer, Payload> map = Collections.synchronizedMap(new HashMap<>());

        @Override
        void store(int key, Payload value) {
            map.put(key, value);
        }

        @Override
        Payload find(int key) {
            synchronized (map) {
                for (Map.Entry<Integer, Payload> entry : map.entrySet()) {
                    if (entry.getKey() == key) {
                        return entry.getValue();
                    }
                }
            }
            return null;
        }
    }

    static final class OldVector extends Lookup {
        private final Vector<Payload> vector = new Vector<>();

        @Override
        void store(int key, Payload value) {
            vector.addElement(value);
        }

        @Override
        Payload find(int key) {
            return vector.size() < key ? null : vector.elementAt(key - 1);
        }
    }

    static final class OldHashtable extends Lookup {
        private final Hashtable<Integer, Payload> table = new Hashtable<>();

        @Override
        void store(int key, Payload value) {
            table.put(key, value);
        }

        @Override
        Payload find(int key) {
            return table.get(key);
        }
    }

    /** The length of a string buffer, used as a level. */
    static final class Buffer extends Baton {
        private final StringBuffer buffer = new StringBuffer();

        @Override
        int level() {
            return buffer.length();
        }

        @Override
        void raise(int to) {
            buffer.append('x');
        }
    }

    private static Payload filled(int n) {
        Payload value = new Payload();
        value.put(n);
        return value;
    }
}
