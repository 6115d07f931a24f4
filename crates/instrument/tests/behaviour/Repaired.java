/** Everything that a repair may be asked to change; prints what it computes. */
public class Repaired {
    static final Object LOCK = new Object();
    static int counter;
    static long total;
    static volatile boolean ready;
    static double[] doubles = {1, 2};
    static boolean[] flags = {true, false};
    static byte[] bytes = {1, 2};
    static char[] chars = {'a', 'b'};
    static short[] shorts = {1, 2};
    static float[] floats = {1, 2};
    static String[] words = {"x", "y"};
    static int[][] rows = {{1}, {2}};

    final Object mutex = new Object();
    int plain;
    long wide;
    Repaired next;

    Repaired(int plain) {
        this.plain = plain;
        wide = 5;
    }

    int count(int by) {
        plain += by;
        wide++;
        wide = wide * 2 + plain;
        int seen = plain > 3 ? plain : -plain;
        plain = seen; wide += seen;
        return seen;
    }

    static long statics(int n) {
        counter = n;
        total = counter++ + total;
        ready = true;
        total += counter;
        return total;
    }

    static String elements(int at) {
        doubles[at] += 0.5;
        flags[at] = !flags[1 - at];
        bytes[at]++;
        chars[at] = (char) (chars[at] + 1);
        shorts[at] -= 2;
        floats[at] = floats[1 - at] / 2;
        words[at] = words[1 - at] + words[at];
        rows[at][0] = rows[1 - at][0] + 1;
        long[] longs = {4, 5};
        longs[at] <<= longs[1 - at];
        return doubles[at] + " " + flags[at] + bytes[at] + chars[at] + shorts[at] + floats[at]
                + words[at] + rows[at][0] + longs[at];
    }

    static int moved(Repaired r, int x) {
        Repaired other = new Repaired(x);
        ready = true;
        other.plain = x + 1;
        r.next = other;
        other.wide = 7;
        counter = x;
        int last = other.plain;
        return last + counter + (int) r.next.wide;
    }

    static String thrown(Repaired none) {
        String seen = "";
        try {
            none.plain = 1;
        } catch (NullPointerException e) {
            seen += "null ";
        }
        try {
            seen += none.wide;
        } catch (NullPointerException e) {
            seen += "null ";
        }
        try {
            flags[2] = true;
        } catch (ArrayIndexOutOfBoundsException e) {
            seen += "index ";
        }
        Object[] strings = words;
        try {
            strings[0] = 1;
        } catch (ArrayStoreException | ClassCastException e) {
            seen += "store";
        }
        return seen;
    }

    public static String all() {
        Repaired r = new Repaired(4);
        StringBuilder text = new StringBuilder();
        text.append(r.count(2)).append(' ').append(r.count(-9)).append(' ').append(r.wide);
        text.append(' ').append(statics(3)).append(' ').append(statics(4));
        text.append(' ').append(elements(0)).append(' ').append(elements(1));
        text.append(' ').append(moved(r, 6)).append(' ').append(thrown(null));
        text.append(' ').append(Thread.holdsLock(LOCK) || Thread.holdsLock(r.mutex));
        return text.toString();
    }

    public static void main(String[] args) {
        System.out.println(all());
    }
}
