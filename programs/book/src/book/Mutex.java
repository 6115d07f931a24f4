package book;

/** A lock for two threads, tried on a counter. */
public abstract class Mutex extends Two {
    private int counter;

    protected abstract void lock(int me);

    protected abstract void unlock(int me);

    @Override
    protected final void work(int me) {
        lock(me);
        counter++; // race: Peterson Filter Bakery ALock CLHLock MCSLock
        unlock(me);
    }

    /** Runs both threads; each must have counted. */
    public final void count() throws InterruptedException {
        run();
        check(counter == 2, "one thread overwrote what the other counted");
    }
}
