import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Code of the program that runs in the middle of code of the JDK: hashCode, equals, toString. */
public final class Reentry {
    static final Object lock = new Object();

    static final class Key implements Comparable<Key> {
        private final int n;
        private int asked;

        Key(int n) {
            this.n = n;
        }

        @Override
        public int hashCode() {
            synchronized (lock) {
                asked++;
                return n & 3;
            }
        }

        @Override
        public boolean equals(Object other) {
            synchronized (lock) {
                return other instanceof Key && ((Key) other).n == n;
            }
        }

        @Override
        public int compareTo(Key other) {
            synchronized (this) {
                return Integer.compare(n, other.n);
            }
        }

        @Override
        public String toString() {
            synchronized (lock) {
                return "key " + n + (asked > 0 ? "" : " never asked");
            }
        }
    }

    private Reentry() {}

    public static void main(String[] args) throws InterruptedException {
        Map<Key, String> map = new ConcurrentHashMap<>();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 6; n++) {
                    map.computeIfAbsent(new Key(n), key -> key + " made");
                    map.merge(new Key(n + 10), "x", String::concat);
                    map.toString();
                }
                if (me == 0) {
                    map.replaceAll((key, value) -> value);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(new TreeMap<>(map));
    }
}
