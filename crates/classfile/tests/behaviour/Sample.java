/** Methods for the tests to edit; {@code main} says what they do and what was hit on the way. */
class Sample {
    static final StringBuilder HITS = new StringBuilder();

    static void hit(int n) {
        HITS.append(' ').append(n);
    }

    static void fail() {
        throw new NullPointerException("from a snippet");
    }

    static int loopFromTheStart(int n) {
        do {
            n--;
        } while (n > 0);
        return n;
    }

    static int sum(int a, int b) {
        return a + b;
    }

    static int join(boolean b) {
        int x;
        if (b) {
            x = 1;
        } else {
            x = 2;
        }
        return x;
    }

    static int guarded(int[] a) {
        try {
            return a[0];
        } catch (NullPointerException e) {
            return -1;
        }
    }

    static int rethrown(String s) {
        try {
            return s.length();
        } catch (NullPointerException e) {
            throw new IllegalStateException(e);
        }
    }

    static void entered() {}

    static int line(int[] a) {
        int n = a.length;
        n /=
            a[0];
        return n;
    }

    static int released(Object outer, Object inner) {
        synchronized (outer) {
            synchronized (inner) {
                return 1;
            }
        }
    }

    static int taken(Object lock) {
        synchronized (lock) {
            return 1;
        }
    }

    static void say(String name, Object result) {
        System.out.println(name + " " + result + " hits" + HITS);
        HITS.setLength(0);
    }

    public static void main(String[] args) throws Exception {
        say("loopFromTheStart", loopFromTheStart(3));
        say("sum", sum(5, 2));
        say("join", join(true));
        say("join", join(false));
        say("guarded", guarded(new int[] {7}));
        say("rethrown", rethrown("four"));
        try {
            say("rethrown", rethrown(null));
        } catch (IllegalStateException e) {
            say("rethrown", "thrown");
        }
        try {
            entered();
            say("entered", "returned");
        } catch (NullPointerException e) {
            say("entered", "thrown");
        }
        try {
            line(new int[1]);
        } catch (ArithmeticException e) {
            say("line", e.getStackTrace()[0].getLineNumber());
        }
        Object outer = new Object();
        Object inner = new Object();
        try {
            say("released", released(outer, inner));
        } catch (NullPointerException e) {
            say("released", "thrown " + (Thread.holdsLock(outer) || Thread.holdsLock(inner)));
        }
        try {
            say("taken", taken(outer));
        } catch (NullPointerException e) {
            say("taken", "thrown " + Thread.holdsLock(outer));
        }
        Class<?> old = Class.forName("Old");
        Object result = old.getMethod("run", int.class).invoke(null, 41);
        say("Old.run", result + " total " + old.getField("total").get(null));
        say("Large.forever", Large.forever(3));
        say("Large.bounded", Large.bounded(3));
    }
}
