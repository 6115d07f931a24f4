import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Every kind of point. A comment at the end of a line names the probes that run there, in order, in
 * a controlled run without a detector; a line without one runs none. Those with a question mark run
 * only when the line is a target. (The end by an exception counts with a method's last line.)
 */
class Points {
    volatile int flag;
    static volatile long shared;
    int plain;
    long big;
    final int fixed = 3;
    static int counter;
    int[] ints = new int[4]; //~ targetField?
    double[] reals = new double[2]; //~ targetField?
    static final VarHandle FLAG;

    static {
        try {
            FLAG = MethodHandles.lookup().findVarHandle(Points.class, "flag", int.class); //~ initBegin beforeReadStatic targetStatic?
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    } //~ initEnd

    public static void main(String[] args) {
        Points p = new Points();
        p.fields(new Other());
        p.elements();
        p.monitors();
        p.handles();
        p.loops(3);
        failures(null, null);
        System.out.println(p.fixed); //~ beforeReadStatic targetStatic?
    }

    void fields(Other other) {
        flag = 1; //~ beforeWrite
        shared = 2; //~ beforeWriteStatic
        int a = flag; //~ beforeRead
        long b = shared; //~ beforeReadStatic
        flag += 2; //~ beforeRead beforeWrite
        shared++; //~ beforeReadStatic beforeWriteStatic
        plain = a; //~ targetField?
        big = b; //~ targetField?
        counter = plain; //~ targetField? targetStatic?
        plain++; //~ targetField? targetField?
        other.wide = 4; //~ beforeWrite targetField?
        other.narrow = 5; //~ beforeWrite targetField?
        a = other.narrow + (int) other.wide; //~ beforeRead targetField? beforeRead targetField?
        Other.lazy = 6; //~ beforeWriteStatic targetStatic?
        a += Lazy.first; //~ beforeReadStatic targetStatic?
        a += fixed;
        System.out.println(a + b + plain + counter); //~ beforeReadStatic targetStatic? targetField? targetStatic?
    }

    void elements() {
        ints[1] = 3; //~ targetField? targetElem?
        reals[1] = 0.5; //~ targetField? targetElem?
        ints[1]++; //~ targetField? targetElem? targetElem?
        double d = reals[1]; //~ targetField? targetElem?
        System.arraycopy(ints, 0, ints, 1, 2); //~ targetField? targetField? targetRange? targetRange? targetRanges?
        int[] copy = ints.clone(); //~ targetField? targetRange? targetRanges?
        System.out.println(d); //~ beforeReadStatic targetStatic?
    }

    void monitors() {
        synchronized (this) { //~ entering enter
            plain = 1; //~ targetField?
        } //~ exit
        locked();
        ofClass();
        try {
            failing();
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage()); //~ beforeReadStatic targetStatic?
        }
    }

    synchronized void locked() {
        flag++; //~ entering enter beforeRead beforeWrite
    } //~ exit

    static synchronized int ofClass() {
        return counter; //~ entering enter targetStatic? exit
    }

    synchronized int failing() {
        if (flag > 0) { //~ entering enter beforeRead
            throw new IllegalStateException("thrown");
        }
        return 0; //~ exit
    }

    void handles() {
        FLAG.set(this, 1); //~ vhPoint?
        FLAG.setVolatile(this, 2); //~ vhPoint
        int n = (int) FLAG.getOpaque(this); //~ vhPoint
        n += (int) FLAG.getAndAdd(this, 5); //~ vhPoint
        boolean ok = FLAG.compareAndSet(this, 7, 8); //~ vhPoint casResult
        n += (int) FLAG.compareAndExchange(this, 8, 9); //~ vhPoint
        AtomicInteger atomic = new AtomicInteger();
        atomic.incrementAndGet();
        System.out.println(ok ? n : atomic.get()); //~ beforeReadStatic targetStatic?
    }

    void loops(int n) {
        for (int i = 0; i < n; i++) { //~ loop loop loop
            n -= i / 2;
        }
        do {
            n--;
        } while (n > 0); //~ loop loop
        while (true) {
            switch (n++) {
                case 0: continue; //~ loop
                default: return;
            }
        }
    }

    static void failures(Points none, Object lock) {
        try {
            none.flag = 1; //~ beforeWrite
        } catch (NullPointerException e) {
            System.out.println(e.getMessage()); //~ beforeReadStatic targetStatic?
        }
        try {
            System.out.println(none.plain); //~ beforeReadStatic targetStatic? targetField?
        } catch (NullPointerException e) {
            System.out.println(e.getMessage()); //~ beforeReadStatic targetStatic?
        }
        try {
            synchronized (lock) { //~ entering
                none.plain = 1;
            }
        } catch (NullPointerException e) {
            System.out.println(e.getMessage()); //~ beforeReadStatic targetStatic?
        }
        try {
            System.out.println(Broken.value); //~ beforeReadStatic targetStatic?
        } catch (ExceptionInInitializerError e) {
            System.out.println(e.getCause()); //~ beforeReadStatic targetStatic?
        }
    }

    static class Other {
        long wide;
        volatile int narrow;
        static int lazy;

        static {
            System.out.println("Other"); //~ initBegin beforeReadStatic targetStatic?
        } //~ initEnd
    }

    interface Lazy {
        int first = first(); //~ initBegin initEnd

        static int first() {
            System.out.println("Lazy"); //~ beforeReadStatic targetStatic?
            return 8;
        }
    }

    static class Broken {
        static int value = 1 / Integer.parseInt("0"); //~ initBegin initEnd
    }
}
