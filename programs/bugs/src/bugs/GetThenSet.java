package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/** An atomic that is read and written in two steps. The argument says by how many threads. */
public final class GetThenSet {
    private static final AtomicInteger SUM = new AtomicInteger();

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]);
        Bugs.together(Bugs.times(threads, () -> SUM.set(SUM.get() + 1)));
        Bugs.check(SUM.get() == threads, "sum " + SUM.get());
    }
}
