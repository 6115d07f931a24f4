package bugs;

/** A slot with producers and consumers that wait on one monitor: notify may wake the wrong one. */
public final class NotifyOne {
    private Integer slot;

    public static void main(String[] args) {
        NotifyOne one = new NotifyOne();
        Bugs.together(
                () -> one.put(1), () -> one.put(2), () -> one.put(3),
                one::take, one::take, one::take);
    }

    private synchronized void put(int value) {
        while (slot != null) {
            await();
        }
        slot = value;
        notify();
    }

    private synchronized void take() {
        while (slot == null) {
            await();
        }
        slot = null;
        notify();
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
