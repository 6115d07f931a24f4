import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** One method for each shape of code that a rewriter must get right. */
class Shapes {
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    @interface Mark {
        int[] value() default {};

        String text() default "";
    }

    final int kept;
    volatile long shared;
    static double total;

    Shapes(boolean b) {
        // Frames with an uninitialised this, then with an uninitialised new.
        this(b ? 1 : 2, new ArrayList<String>(b ? 3 : 4));
    }

    Shapes(int kept, List<String> names) {
        this.kept = kept + names.size();
    }

    static int loopFromTheStart(int n) {
        do {
            n--;
        } while (n > 0);
        return n;
    }

    static int dense(int n) {
        switch (n) {
            case 1: return 10;
            case 2: return 20;
            case 3: n += 5;
            case 4: return n;
            default: return -1;
        }
    }

    static String sparse(String s) {
        switch (s) {
            case "one": return "eins";
            case "two": return "zwei";
            default: return s + s.length() + total;
        }
    }

    int guarded(int[] a, int i) {
        try {
            return a[i] / kept;
        } catch (ArithmeticException e) {
            return -1;
        } catch (ArrayIndexOutOfBoundsException e) {
            i = -2;
        } finally {
            total += i;
        }
        return i;
    }

    synchronized long locked(Object o, long by) {
        synchronized (o) {
            return shared += by;
        }
    }

    static <T extends Comparable<T>> T largest(List<T> all) {
        T best = null;
        for (T one : all) {
            if (best == null || one.compareTo(best) > 0) {
                best = one;
            }
        }
        return best;
    }

    static Object annotated(Object o) {
        @Mark({1, 2}) String s = (@Mark(text = "cast") String) o;
        Object made = new @Mark Object();
        if (o instanceof @Mark String) {
            return s;
        }
        try {
            return made;
        } catch (@Mark RuntimeException e) {
            return null;
        }
    }

    static double[][][] grid(int n) {
        double[][][] g = new double[n][2][];
        g[0][1] = new double[] {1, 2.5};
        return g;
    }

    static IntSupplier closure(int n) {
        long big = 1L << 40;
        return () -> n + (int) big;
    }

    static float mixed(byte b, char c, short s, float f, double d, long l) {
        b++;
        c += 300;
        s >>= 2;
        return b > c ? (float) d % f : l << s | 1;
    }
}
