package ordered;

import java.util.ArrayList;
import java.util.List;

/**
 * Plain data of several kinds, without any synchronisation of its own: whoever
 * hands one of these to another thread must bring the order along.
 */
final class Payload {
    private int number;
    private long wide;
    private String text = "";
    private final int[] cells = new int[4];
    private final List<Integer> list = new ArrayList<>();

    /** Writes the n-th state over the one before. */
    void put(int n) {
        number = n;
        wide = -(long) n;
        text = n % 2 == 0 ? "even" : "odd";
        cells[n & 3] = n;
        list.clear();
        list.add(n);
    }

    /** Checks that what is seen is exactly the n-th state. */
    void expect(int n) {
        if (number != n
                || wide != -(long) n
                || text != (n % 2 == 0 ? "even" : "odd")
                || cells[n & 3] != n
                || list.size() != 1
                || list.get(0) != n) {
            throw new AssertionError("expected state " + n + ", saw " + number);
        }
    }

    /** The number of the present state; 0 before the first put. */
    int state() {
        return number;
    }
}
