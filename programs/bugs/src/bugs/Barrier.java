package bugs;

/** A barrier that is used twice and cannot tell its rounds apart. */
public final class Barrier {
    private static final int PARTIES = 2;
    private int arrived;

    public static void main(String[] args) {
        Barrier barrier = new Barrier();
        Bugs.together(Bugs.times(PARTIES, () -> {
            barrier.await();
            barrier.await();
        }));
    }

    private synchronized void await() {
        arrived++;
        if (arrived == PARTIES) {
            notifyAll();
            arrived = 0;
            return;
        }
        while (arrived != 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
