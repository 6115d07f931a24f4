package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The bakery lock: who has the lower ticket goes first; atomic arrays. */
public final class Bakery extends Mutex {
    static final class Label {
        int counter;

        boolean before(int mine, Label other, int theirs) {
            int a = counter;
            int b = other.counter;
            return a < b || a == b && mine < theirs;
        }
    }

    private final AtomicIntegerArray flag = new AtomicIntegerArray(2);
    private final AtomicReferenceArray<Label> label =
            new AtomicReferenceArray<>(new Label[] {new Label(), new Label()});

    @Override
    protected void lock(int me) {
        int other = 1 - me;
        flag.set(me, 1);
        Label ticket = new Label();
        ticket.counter = label.get(other).counter + 1;
        label.set(me, ticket);
        while (flag.get(other) == 1 && label.get(other).before(other, ticket, me)) {
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        flag.set(me, 0);
    }

    public static void main(String[] args) throws InterruptedException {
        new Bakery().count();
    }
}
