import java.io.File;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One thread writes data and tries a compare-and-set; the other one looks at its location later, and
 * then at the data. That it is later it learns from a file that goes away, which orders nothing. If
 * the attempts succeed, all is ordered. If they fail, nothing has been written but the data, and
 * nothing orders that. "plain": one succeeds, and the location is looked at plainly. "first": one fails
 * that is linked while it is tried, and the location is looked at plainly.
 */
public final class Attempts {
    private Attempts() {}

    private abstract static class Way {
        /** Writes the data and tries. */
        abstract boolean attempt(boolean fail);

        /** Sees the location atomically, then plainly, then the data. */
        abstract int learn();
    }

    public static void main(String[] args) throws Exception {
        boolean fail = args[0].equals("fail");
        if (args[0].equals("plain") || args[0].equals("first")) {
            run(new Plain(), args[0].equals("first"), args[0].equals("plain"));
            return;
        }
        List<Way> ways = List.of(
                new Set(),
                new Weak(),
                new WeakRelease(),
                new Exchange(),
                new ExchangeRelease(),
                new ByteExchange(),
                new LongExchange(),
                new FloatExchange(),
                new DoubleExchange(),
                new ReferenceExchange(),
                new Boxed(),
                new Static(),
                new Element(),
                new Counter());
        for (Way way : ways) {
            run(way, fail, true);
        }
    }

    private static void run(Way way, boolean fail, boolean linked) throws Exception {
        if (linked) { // which orders threads
            way.attempt(true);
            way.learn();
        }
        String sign = File.createTempFile("attempts", null).getPath();
        Thread first = new Thread(() -> {
            if (way.attempt(fail) == fail) {
                throw new AssertionError("another outcome in " + way.getClass());
            }
            new File(sign).delete();
        });
        Thread second = new Thread(() -> {
            while (new File(sign).exists()) {
                Thread.onSpinWait();
            }
            System.out.println(way.learn());
        });
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static final class Set extends Way {
        private static final VarHandle X = field(Set.class, "x", int.class);

        private int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return X.compareAndSet(this, expected, 2);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class Weak extends Way {
        private static final VarHandle X = field(Weak.class, "x", int.class);

        private int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return X.weakCompareAndSet(this, expected, 2);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class WeakRelease extends Way {
        private static final VarHandle X = field(WeakRelease.class, "x", int.class);

        private int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return X.weakCompareAndSetRelease(this, expected, 2);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class Exchange extends Way {
        private static final VarHandle X = field(Exchange.class, "x", int.class);

        private int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return (int) X.compareAndExchange(this, expected, 2) == expected;
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class ExchangeRelease extends Way {
        private static final VarHandle X = field(ExchangeRelease.class, "x", int.class);

        private int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return (int) X.compareAndExchangeRelease(this, expected, 2) == expected;
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class ByteExchange extends Way {
        private static final VarHandle X = field(ByteExchange.class, "x", byte.class);

        private byte x = (byte) 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            byte expected = fail ? (byte) 7 : (byte) 1;
            return (byte) X.compareAndExchange(this, expected, (byte) 2) == expected;
        }

        @Override
        int learn() {
            byte seen = (byte) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class LongExchange extends Way {
        private static final VarHandle X = field(LongExchange.class, "x", long.class);

        private long x = 1L;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            long expected = fail ? 7L : 1L;
            return (long) X.compareAndExchange(this, expected, 2L) == expected;
        }

        @Override
        int learn() {
            long seen = (long) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class FloatExchange extends Way {
        private static final VarHandle X = field(FloatExchange.class, "x", float.class);

        private float x = 1f;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            float expected = fail ? 7f : 1f;
            return (float) X.compareAndExchange(this, expected, 2f) == expected;
        }

        @Override
        int learn() {
            float seen = (float) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class DoubleExchange extends Way {
        private static final VarHandle X = field(DoubleExchange.class, "x", double.class);

        private double x = 1.0;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            double expected = fail ? 7.0 : 1.0;
            return (double) X.compareAndExchange(this, expected, 2.0) == expected;
        }

        @Override
        int learn() {
            double seen = (double) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class ReferenceExchange extends Way {
        private static final VarHandle X = field(ReferenceExchange.class, "x", String.class);

        private String x = "one";
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            String expected = fail ? "other" : "one";
            return (String) X.compareAndExchange(this, expected, "two") == expected;
        }

        @Override
        int learn() {
            String seen = (String) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class Boxed extends Way {
        private static final VarHandle X = field(Boxed.class, "x", int.class);

        private int x = 1000;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1000;
            Object witness = X.compareAndExchange(this, (Object) expected, (Object) 2);
            return witness.equals(expected);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(this);
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class Static extends Way {
        private static final VarHandle X = statics(Static.class, "x", int.class);

        private static int x = 1;
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return X.compareAndSet(expected, 2);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile();
            return data + (x == seen ? 0 : 1);
        }
    }

    private static final class Element extends Way {
        private static final VarHandle X = MethodHandles.arrayElementVarHandle(int[].class);

        private int[] x = {1};
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            int expected = fail ? 7 : 1;
            return X.compareAndSet(x, 0, expected, 2);
        }

        @Override
        int learn() {
            int seen = (int) X.getVolatile(x, 0);
            return data + (x[0] == seen ? 0 : 1);
        }
    }

    private static final class Counter extends Way {
        private final AtomicInteger x = new AtomicInteger(1);
        private int data;

        @Override
        boolean attempt(boolean fail) {
            data = 1;
            return x.compareAndSet(fail ? 7 : 1, 2);
        }

        @Override
        int learn() {
            int seen = x.get();
            return data + seen;
        }
    }

    private static final class Plain extends Way {
        private static final VarHandle X = field(Plain.class, "x", int.class);

        private int x = 1;

        @Override
        boolean attempt(boolean fail) {
            return X.compareAndSet(this, fail ? 7 : 1, 2);
        }

        @Override
        int learn() {
            return x;
        }
    }

    private static VarHandle field(Class<?> c, String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(c, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static VarHandle statics(Class<?> c, String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findStaticVarHandle(c, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
