import java.util.Map;
import org.apache.commons.collections.Buffer;
import org.apache.commons.collections.BufferUtils;
import org.apache.commons.collections.FastArrayList;
import org.apache.commons.collections.FastHashMap;
import org.apache.commons.collections.MapUtils;
import org.apache.commons.collections.buffer.BoundedFifoBuffer;
import org.apache.commons.collections.map.LRUMap;

/** commons-collections: those of its collections that are meant for several threads. */
public final class CollectionsDriver {
    private CollectionsDriver() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static void write(FastHashMap map, FastArrayList list, Buffer buffer, Map lru) {
        for (int i = 0; i < 20; i++) {
            map.put("key " + i % 5, i);
            list.add(i);
            synchronized (buffer) {
                if (buffer.size() < 8) buffer.add(i);
            }
            lru.put(i, "value " + i);
        }
        pause(10);
        map.setFast(true);
        list.setFast(true);
    }

    @SuppressWarnings("rawtypes")
    static void read(FastHashMap map, FastArrayList list, Buffer buffer, Map lru) {
        pause(30);
        int seen = 0;
        for (int i = 0; i < 20; i++) {
            if (map.get("key " + i % 5) != null) seen++;
            if (i < list.size() && list.get(i) != null) seen++;
            synchronized (buffer) {
                if (!buffer.isEmpty()) buffer.remove();
            }
            if (lru.containsKey(i)) seen++;
        }
        if (seen < 0) throw new IllegalStateException();
    }

    @SuppressWarnings("rawtypes")
    public static void main(String[] args) throws Exception {
        FastHashMap map = new FastHashMap();
        FastArrayList list = new FastArrayList();
        Buffer buffer = BufferUtils.synchronizedBuffer(new BoundedFifoBuffer(8));
        Map lru = MapUtils.synchronizedMap(new LRUMap(10));
        Thread[] threads = {
            new Thread(() -> write(map, list, buffer, lru), "writer"),
            new Thread(() -> read(map, list, buffer, lru), "reader 1"),
            new Thread(() -> read(map, list, buffer, lru), "reader 2")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.println("map " + map.size() + " list " + list.size() + " lru " + lru.size());
    }
}
