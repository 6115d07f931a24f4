package bugs;

/** Three threads, three locks, each pair in an order that alone is harmless. */
public final class ThreeLocks {
    private static final Object A = new Object();
    private static final Object B = new Object();
    private static final Object C = new Object();

    public static void main(String[] args) {
        Bugs.together(() -> both(A, B), () -> both(B, C), () -> both(C, A));
    }

    private static void both(Object first, Object second) {
        synchronized (first) {
            synchronized (second) {
                Thread.onSpinWait();
            }
        }
    }
}
