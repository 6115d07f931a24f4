import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

/**
 * Synchronized methods of every shape. Prints what happened, and after each call whether a lock was
 * left behind: the same with and without probes.
 */
class Locks {
    int n;
    static int total;

    synchronized void nothing() {}

    synchronized int one(int a) {
        return n += a;
    }

    synchronized long wide(long a, double b, int c) {
        long sum = a;
        for (int i = 0; i < c; i++) {
            double d = b * i;
            if (d > 3) {
                long more = sum + (long) d;
                sum = more;
            } else {
                String text = "x" + i;
                sum += text.length();
            }
        }
        return sum;
    }

    static synchronized int ofClass(int a) {
        total += a;
        return Thread.holdsLock(Locks.class) ? total : -1;
    }

    /** Its parameter sits where `this` would. */
    static synchronized Object reassigned(Object a, int again) {
        while (again-- > 0) {
            a = List.of(a, again);
        }
        return a;
    }

    synchronized int recursive(int depth) {
        return depth == 0 ? n : 1 + recursive(depth - 1);
    }

    synchronized int throwing(int a) {
        if (a > 1) {
            throw new IllegalStateException("a is " + a);
        }
        return 10 / a;
    }

    /** The program's own handlers see what the body throws, and only that. */
    synchronized String caught(Object[] all, int at) {
        try {
            return all[at].toString();
        } catch (ArrayIndexOutOfBoundsException e) {
            return e.getMessage();
        } catch (Throwable t) {
            throw new IllegalArgumentException(t.getClass().getName());
        } finally {
            n++;
        }
    }

    /** The handler returns from inside another lock. */
    synchronized int nested(Object other, int a) {
        synchronized (other) {
            try {
                if (a == 0) {
                    return n;
                }
                synchronized (this) {
                    return one(a) / (a - 1);
                }
            } catch (ArithmeticException e) {
                return nested(other, 0);
            }
        }
    }

    synchronized int switching(String s) {
        switch (s) {
            case "a":
                return 1;
            case "b":
                n = 7;
                break;
            default:
                throw new UnsupportedOperationException(s);
        }
        return n;
    }

    /** Frames with objects that are not constructed yet. */
    synchronized Object building(boolean yes) {
        return new ArrayList<Object>(List.of(new String(yes ? "yes" : "no"), new int[yes ? 1 : 2].length));
    }

    synchronized void varied(boolean z, byte b, char c, short s, float f, int[] ints, String[][] texts) {
        for (int i = 0; i < ints.length; i++) {
            if (z) {
                n += b + c + s + (int) f + texts[0].length;
            }
        }
    }

    synchronized int forever() {
        return 1 + forever();
    }

    synchronized void waits() throws InterruptedException {
        wait(1);
        notifyAll();
    }

    static class Sub extends Locks {
        @Override
        synchronized int one(int a) {
            return super.one(a) + 100;
        }
    }

    interface Call {
        Object run() throws Throwable;
    }

    static void show(String what, Object lock, Call call) {
        Object result;
        String where = "";
        try {
            result = call.run();
        } catch (Throwable t) {
            result = t.toString();
            StackTraceElement[] trace = t.getStackTrace();
            for (int i = 0; i < Math.min(2, trace.length); i++) {
                where += " at " + trace[i];
            }
            if (t instanceof StackOverflowError) {
                where = "";
            }
        }
        System.out.println(what + ": " + result + where + (Thread.holdsLock(lock) ? " LOCK LEFT BEHIND" : ""));
    }

    static Object none(Runnable r) {
        r.run();
        return "";
    }

    /** What the bridge may be told, by name: to throw in its next call. */
    static void tellBridge(String what) throws Exception {
        try {
            Field field = Class.forName("java.lang.Photofinish").getField("angry");
            field.set(null, what);
        } catch (ClassNotFoundException | NoSuchFieldException e) {
            // Without probes there is nobody to tell.
        }
    }

    public static void main(String[] args) throws Exception {
        Locks k = new Locks();
        Sub sub = new Sub();
        Object other = new Object();
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        for (int i = 0; i < rounds; i++) { // for the compilers
            k.nothing();
            k.one(1);
            k.wide(i, 1.5, 5);
            ofClass(1);
            reassigned("x", 2);
            k.recursive(3);
            k.nested(other, 3);
            k.switching("a");
            k.building(true);
            k.caught(args, 0);
            k.varied(true, (byte) 1, 'a', (short) 2, 1f, new int[2], new String[1][2]);
        }
        show("nothing", k, () -> none(k::nothing));
        show("one", k, () -> k.one(2));
        show("super", sub, () -> sub.one(2));
        show("wide", k, () -> k.wide(1L << 40, 1.25, 7));
        show("static", Locks.class, () -> ofClass(3));
        show("reassigned", Locks.class, () -> reassigned("x", 2));
        show("recursive", k, () -> k.recursive(5));
        show("throwing", k, () -> k.throwing(2));
        show("throwing", k, () -> k.throwing(0));
        show("throwing", k, () -> k.throwing(1));
        show("caught", k, () -> k.caught(new Object[] {"in", null}, 0));
        show("caught", k, () -> k.caught(new Object[] {"in", null}, 1));
        show("caught", k, () -> k.caught(new Object[] {"in", null}, 2));
        show("nested", k, () -> k.nested(other, 1));
        show("nested", other, () -> k.nested(other, 2));
        show("switching", k, () -> k.switching("a") + k.switching("b"));
        show("switching", k, () -> k.switching("c"));
        show("building", k, () -> k.building(true) + "" + k.building(false));
        show("varied", k, () -> none(() -> k.varied(true, (byte) 1, 'a', (short) 2, 1f, new int[2], new String[1][2])));
        show("waits", k, () -> {
            k.waits();
            return k.n;
        });
        for (int i = 0; i < 5; i++) {
            show("forever", k, k::forever);
        }
        show("reflection", k, () -> Locks.class.getDeclaredMethod("throwing", int.class).invoke(k, 1));
        show("reflection", k, () -> {
            try {
                return Locks.class.getDeclaredMethod("throwing", int.class).invoke(k, 3);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        for (String probe : List.of("entering", "enter", "exit")) {
            tellBridge(probe);
            try {
                k.nothing();
            } catch (IllegalCallerException e) {
                // The bridge's.
            }
            try {
                k.throwing(2);
            } catch (IllegalStateException | IllegalCallerException e) {
                // Either: the bridge's in place of ours.
            }
            tellBridge(null);
            System.out.println(probe + Thread.holdsLock(k));
        }
        Thread t = new Thread(() -> show("another thread", k, () -> k.one(1)));
        t.start();
        t.join();
    }
}
