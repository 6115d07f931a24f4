package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The bakery lock: who has the lower ticket goes first; atomic arrays. */
public final class Bakery extends Mutex {
    static final class Label {
        int counter;
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
        while (flag.get(other) == 1 && before(label.get(other), other, ticket, me)) {
            Thread.onSpinWait();
        }
    }

    private static boolean before(Label one, int its, Label other, int theirs) {
        int a = one.counter;
        int b = other.counter;
        return a < b || a == b && its < theirs;
    }

    @Override
    protected void unlock(int me) {
        flag.set(me, 0);
    }

    public static void main(String[] args) throws InterruptedException {
        new Bakery().count();
    }
}
