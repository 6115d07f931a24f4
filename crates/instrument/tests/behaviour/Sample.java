import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Every kind of probe. A comment at the end of a line names the probes that run there, in order;
 * a line without one runs none. Every line runs once.
 */
class Sample implements Cloneable {
    static int counter = plusOne(4); //~ initBegin writeStatic initEnd
    static final Object LOCK = makeLock();
    static final VarHandle VALUE;
    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Sample.class, "number", int.class); //~ readStatic
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    int number;
    long big;
    double real;
    Object any;
    volatile boolean flag;
    final int fixed;
    int[] ints;

    Sample(int fixed) {
        this.fixed = fixed;
    }

    static int plusOne(int n) {
        return n + 1;
    }

    static Object makeLock() {
        return new Object(); //~ newObject
    }

    public static void main(String[] args) throws Exception {
        Sample s = new Sample(3); //~ newObject
        s.fields();
        s.arrays();
        s.monitors();
        s.handles();
        s.copies();
        s.local();
        s.nested();
        System.out.println(new Frozen().first()); //~ readStatic newObject
        failures(null, new int[2]);
        System.out.println(s.fixed + " " + s.hashCode() * 0); //~ readStatic
    }

    void fields() {
        number = 5; //~ write
        big = 1L << 40; //~ write
        real = 0.5; //~ write
        any = "x"; //~ write
        flag = true; //~ write
        int n = number + fixed; //~ read
        long b = big; //~ read
        double d = real; //~ read
        Object o = any; //~ read
        boolean f = flag; //~ read
        number += 2; //~ write
        big++; //~ write
        counter = n; //~ writeStatic
        Other.lazy = n + 1; //~ writeStatic
        n = counter + Other.lazy; //~ readStatic readStatic
        report(n, b, d, o, f); //~ newArray
    }

    void report(Object... values) {
        for (Object value : values) { //~ readElem readElem readElem readElem readElem
            System.out.println(value); //~ readStatic called readStatic called readStatic called readStatic called readStatic called
        }
    }

    void arrays() {
        int[] a = new int[3]; //~ newArray
        a[1] = 7;
        a[1] += 1;
        long[] l = {5}; //~ newArray
        l[0] *= 3;
        double[][] grid = new double[2][3];
        grid[1][2] = 2.5;
        byte[] bytes = new byte[1];
        bytes[0] = 3;
        boolean[] bits = new boolean[1]; //~ newArray
        bits[0] = bytes[0] == 3;
        Object[] objects = new Object[1]; //~ newArray
        objects[0] = a;
        ints = a; //~ write
        int sum = ints[1] + (int) grid[1][2]; //~ read readElem
        values(sum, l, bits, objects);
    }

    void values(int sum, long[] l, boolean[] bits, Object[] objects) {
        StringBuilder text = new StringBuilder(); //~ newObject
        text.append(sum).append(' ').append(l[0]); //~ readElem
        text.append(bits[0]).append(objects.length); //~ readElem
        System.out.println(text); //~ readStatic called
    }

    void monitors() {
        synchronized (LOCK) { //~ enter
            number = 1; //~ write
        } //~ exit
        locked();
        staticLocked();
        try {
            throwing();
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage()); //~ readStatic
        }
    }

    synchronized void locked() {
        number++; //~ enter write
    } //~ exitTop

    static synchronized int staticLocked() {
        return counter; //~ enterStatic readStatic exitTop
    }

    synchronized int throwing() {
        if (number > 0) { //~ enter read exitTop
            throw new IllegalStateException("thrown"); //~ newObject
        }
        return number;
    }

    void handles() {
        VALUE.set(this, 1); //~ vhBefore
        int n = (int) VALUE.get(this); //~ vhAfter
        VALUE.setVolatile(this, 2); //~ vhBefore
        n += (int) VALUE.getAcquire(this); //~ vhAfter
        n += (int) VALUE.getAndAdd(this, 5); //~ vhBefore vhAfter
        VALUE.getAndAdd(this, 5); //~ vhBefore vhAfter
        boolean ok = VALUE.compareAndSet(this, 12, 13); //~ vhBefore vhAfterCas
        n += (int) VALUE.compareAndExchange(this, 13, 14); //~ vhBefore vhAfter
        int[] a = new int[2]; //~ newArray
        ELEMENT.setRelease(a, 1, n); //~ vhBefore
        VarHandle.fullFence(); //~ fence fence
        VarHandle.releaseFence(); //~ fence
        System.out.println(n + " " + ok + " " + a[1]); //~ readStatic readElem
    }

    void copies() throws Exception {
        int[] from = {1, 2, 3};
        int[] to = from.clone(); //~ cloneArray
        System.arraycopy(from, 0, to, 1, 2); //~ arraycopy
        Sample copy = (Sample) clone();
        System.out.println(to[2] + " " + copy.fixed); //~ readStatic readElem
        Finalized f = new Finalized(); //~ newObject
        f.finalize();
    }

    @Override
    protected Object clone() throws CloneNotSupportedException {
        return super.clone();
    }

    void local() {
        Sample own = new Sample(1); //~ newObject
        own.number = 5;
        own.number += own.plus(own.number);
        System.out.println(own.number); //~ readStatic
        Sample shown = new Sample(2); //~ newObject
        shown.number = 6; //~ write
        any = shown; //~ write
    }

    private int plus(int n) {
        return n + fixed;
    }

    void nested() {
        Inner inner = new Inner(9); //~ newObject
        System.out.println(inner.sum()); //~ readStatic
        Runnable captured = () -> number = inner.extra; //~ read write
        captured.run();
        System.out.println(number); //~ readStatic read
    }

    static void failures(Sample none, int[] two) {
        try {
            none.number = 1; //~ write
        } catch (NullPointerException e) {
            System.out.println(e.getMessage()); //~ readStatic
        }
        try {
            System.out.println(none.big); //~ readStatic
        } catch (NullPointerException e) {
            System.out.println(e.getMessage()); //~ readStatic
        }
        try {
            two[2] = 1; //~ writeElem
        } catch (ArrayIndexOutOfBoundsException e) {
            System.out.println(e.getMessage()); //~ readStatic
        }
        try {
            System.out.println(none.ints[0]); //~ readStatic
        } catch (NullPointerException e) {
            System.out.println(e.getMessage() + e.getStackTrace()[0]); //~ readStatic readElem called
        }
    }

    class Inner {
        int extra;

        Inner(int extra) {
            this.extra = extra; //~ initialise
        }

        int sum() {
            return extra + Sample.this.number; //~ read read read
        }
    }

    static class Other {
        static int lazy;

        static {
            System.out.println("Other"); //~ initBegin readStatic initEnd
        }
    }

    static class Frozen {
        final int[] items = {1}; //~ newArray
        final String name = "x".repeat(2);

        Frozen() {} //~ freeze

        int first() {
            return items[0] + name.length(); //~ read readElem
        }
    }

    static class Finalized {
        Finalized() {} //~ syncRelease

        @Override
        protected void finalize() {
            System.out.println("finalize"); //~ syncAcquire readStatic
        }
    }
}
