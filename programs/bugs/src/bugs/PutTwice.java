package bugs;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Counting in a concurrent map by looking and putting. */
public final class PutTwice {
    private static final ConcurrentMap<String, Integer> COUNTS = new ConcurrentHashMap<>();

    public static void main(String[] args) {
        Bugs.together(PutTwice::count, PutTwice::count);
        Bugs.check(COUNTS.get("word") == 2, "counted " + COUNTS.get("word"));
    }

    private static void count() {
        if (COUNTS.containsKey("word")) {
            COUNTS.put("word", COUNTS.get("word") + 1);
        } else {
            COUNTS.put("word", 1);
        }
    }
}
