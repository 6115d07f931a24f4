package bugs;

import java.util.concurrent.ConcurrentHashMap;

/** An entry is checked, removed by another thread, and used. */
public final class Cache {
    private static final ConcurrentHashMap<Integer, String> MAP = new ConcurrentHashMap<>();

    public static void main(String[] args) {
        MAP.put(1, "one");
        Bugs.together(Cache::use, () -> MAP.remove(1));
    }

    private static void use() {
        if (MAP.containsKey(1)) {
            MAP.get(1).length();
        }
    }
}
