package bugs;

/** A lock whose readers may become writers: two that want to wait for each other. */
public final class Upgrade {
    private int readers;

    public static void main(String[] args) {
        Upgrade lock = new Upgrade();
        Bugs.together(lock::readThenWrite, lock::readThenWrite);
    }

    private void readThenWrite() {
        synchronized (this) {
            readers++;
        }
        synchronized (this) {
            while (readers > 1) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            readers--;
            notifyAll();
        }
    }
}
