package predict;

/**
 * One method for each way in which a value or a decision gets somewhere. What `out` depends on in
 * each stands in the test that runs this.
 */
final class Flows {
    int a = 1;
    int b = 2;
    int c = 3;
    int out;
    Flows next;
    int[] list = {1, 2, 3};

    public static void main(String[] args) {
        Flows f = new Flows();
        f.next = new Flows();
        f.copy();
        f.arithmetic();
        f.independent();
        f.taken();
        f.notTaken();
        f.both();
        f.after();
        f.loop();
        f.afterLoop();
        f.stack();
        f.parameter();
        f.returned();
        f.chosen();
        f.element();
        f.through();
        f.mayThrow();
        f.caught();
        f.local();
        f.builder();
        f.holder();
        f.lambda();
        f.switched();
        f.virtual(new Two());
        f.divided();
        f.nested();
        f.constructed();
        f.copied();
    }

    void copy() {
        out = a;
    }

    void arithmetic() {
        int x = a * 2;
        x += b;
        out = x;
    }

    void independent() {
        int x = a;
        int y = b;
        out = y;
    }

    void taken() {
        if (a == 1) out = b;
    }

    /** The other side would have set x. */
    void notTaken() {
        int x = 0;
        if (a == 0) x = b;
        out = x;
    }

    void both() {
        int x;
        if (a == 1) x = b;
        else x = c;
        out = x;
    }

    /** What follows an if does not depend on it. */
    void after() {
        int x = 0;
        if (a == 1) x = b;
        out = 7;
    }

    void loop() {
        int n = 0;
        for (int i = 0; i < b; i++) n += a;
        out = n;
    }

    /** What follows a loop does. */
    void afterLoop() {
        int i = 0;
        while (i < b) i++;
        out = 7;
    }

    void stack() {
        out = a == 1 ? 5 : 6;
    }

    private static int twice(int x, int unused) {
        return x + x;
    }

    void parameter() {
        out = twice(a, b);
    }

    private int get() {
        return c;
    }

    void returned() {
        int x = a;
        out = get();
    }

    private static int sign(int x) {
        if (x > 0) return 1;
        return -1;
    }

    void chosen() {
        out = sign(a);
    }

    void element() {
        int[] l = list;
        out = l[a];
    }

    /** Through a field: out depends on the value of b, which was written from a. */
    void through() {
        b = a;
        out = b;
    }

    /** If next were null, nothing would be written. */
    void mayThrow() {
        int x = next.a;
        out = 7;
    }

    void caught() {
        int x = 0;
        try {
            if (a == 1) throw new IllegalStateException();
            x = b;
        } catch (IllegalStateException e) {
            x = 5;
        }
        out = x;
    }

    void local() {
        int[] l = new int[2];
        l[1] = a;
        out = l[0];
    }

    void builder() {
        StringBuilder s = new StringBuilder();
        s.append(a);
        int x = b;
        out = s.length();
    }

    static final class Holder {
        final int value;

        Holder(int value) {
            this.value = value;
        }
    }

    /** Final fields are no events. */
    void holder() {
        Holder h = new Holder(a);
        int x = b;
        out = h.value;
    }

    void lambda() {
        int x = a;
        java.util.function.IntUnaryOperator f = y -> x + y;
        out = f.applyAsInt(b);
    }

    void switched() {
        int x = 0;
        switch (a) {
            case 1 -> x = b;
            case 2 -> x = c;
            default -> x = 9;
        }
        out = x;
    }

    static class One {
        int number() {
            return 1;
        }
    }

    static final class Two extends One {
        @Override
        int number() {
            return 2;
        }
    }

    private One one;

    void virtual(One o) {
        one = o;
        int x = a;
        out = one.number();
    }

    void divided() {
        int x = a / b;
        out = 7;
    }

    void nested() {
        int x = 0;
        if (a == 1) {
            if (b == 2) x = 1;
        }
        out = x;
    }

    private static final class Pair {
        int left;
        int right;

        Pair(int left, int right) {
            this.left = left;
            this.right = right;
        }
    }

    void constructed() {
        Pair p = new Pair(a, b);
        out = p.right;
    }

    void copied() {
        int[] to = new int[3];
        System.arraycopy(list, 0, to, 0, 3);
        out = to[1];
    }
}
