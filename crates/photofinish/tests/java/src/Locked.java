/** Takes locks often enough to be compiled. */
final class Locked {
    private static final Object LOCK = new Object();
    private static int total;

    private static void block(int n) {
        synchronized (LOCK) {
            total += n;
        }
    }

    private static synchronized void method(int n) {
        total += n;
    }

    private static int nested(Object other, int n) {
        synchronized (LOCK) {
            synchronized (other) {
                if (n < 0) {
                    throw new IllegalArgumentException();
                }
                return total += n;
            }
        }
    }

    public static void main(String[] args) {
        Object other = new Object();
        for (int i = 0; i < 200_000; i++) {
            block(1);
            method(1);
            nested(other, 1);
        }
    }
}
