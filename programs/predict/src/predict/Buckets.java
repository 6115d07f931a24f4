package predict;

/**
 * A map with a lock for each bucket, whose entries can be changed without it:
 * `Buckets broken`; `Buckets repaired` takes the lock there, too. Printing goes
 * through the map under all locks and looks at each value twice.
 */
public final class Buckets {
    static final class Entry {
        final Object lock;
        Object value;
        Entry next;

        Entry(Object lock, Object value, Entry next) {
            this.lock = lock;
            this.value = value;
            this.next = next;
        }

        void setValue(Object value) {
            this.value = value;
        }

        void setValueTogether(Object value) {
            synchronized (lock) {
                this.value = value;
            }
        }
    }

    static final class Map {
        private final Object[] locks = {new Object(), new Object()};
        private final Entry[] buckets = new Entry[2];

        Entry put(int bucket, Object value) {
            synchronized (locks[bucket]) {
                buckets[bucket] = new Entry(locks[bucket], value, buckets[bucket]);
                return buckets[bucket];
            }
        }

        /** Runs the task while nobody changes the map. */
        void atomic(Runnable task) {
            atomic(task, 0);
        }

        private void atomic(Runnable task, int bucket) {
            if (bucket == locks.length) {
                task.run();
                return;
            }
            synchronized (locks[bucket]) {
                atomic(task, bucket + 1);
            }
        }

        void print(StringBuilder out) {
            for (int bucket = 0; bucket < buckets.length; bucket++) {
                for (Entry e = buckets[bucket]; e != null; e = e.next) {
                    if (e.value != null) {
                        out.append(e.value);
                    }
                }
            }
        }
    }

    private Buckets() {}

    public static void main(String[] args) throws InterruptedException {
        boolean repaired = args[0].equals("repaired");
        Map map = new Map();
        Entry entry = map.put(0, "a");
        StringBuilder out = new StringBuilder();
        Thread printer = new Thread(() -> map.atomic(() -> map.print(out)), "printer");
        Thread changer = new Thread(() -> {
            sleep();
            map.put(1, "b");
            if (repaired) {
                entry.setValueTogether(null);
            } else {
                entry.setValue(null);
            }
        }, "changer");
        printer.start();
        changer.start();
        printer.join();
        changer.join();
    }

    private static void sleep() {
        try {
            Thread.sleep(600);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
