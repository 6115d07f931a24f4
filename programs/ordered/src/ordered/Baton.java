package ordered;

/**
 * The exercise for everything that works as a flag: a level that both threads
 * can read, and that whoever's turn it is raises by one. The payload is written
 * before the level is raised, and checked and rewritten by the other side once
 * it sees the new level: order is needed, and tried, in both directions.
 */
abstract class Baton implements Section {
    private final Payload data = new Payload();

    /** The level last raised to; 0 in the beginning. */
    abstract int level() throws Exception;

    /** Called with the present level plus one. */
    abstract void raise(int to) throws Exception;

    /** Where to stop; 1 for flags that know only up and down. */
    int last() {
        return 10;
    }

    @Override
    public final void run() throws Exception {
        Worker other = Worker.start(() -> play(0));
        play(1);
        other.finish();
    }

    private void play(int parity) throws Exception {
        int last = last();
        for (int n = parity; n <= last; n += 2) {
            while (level() != n) {
                Thread.yield();
            }
            if (n > 0) {
                data.expect(n);
            }
            if (n < last) {
                data.put(n + 1);
                raise(n + 1);
            }
        }
    }
}
