package book.faulty;

import book.Mutex;

/** The bakery lock: who has the lower ticket goes first; arrays of plain elements. */
public final class Bakery extends Mutex {
    static final class Label {
        int counter; // a ticket, drawn anew each time

        boolean before(int mine, Label other, int theirs) {
            int a = counter; // race: Bakery
            int b = other.counter; // race: Bakery
            return a < b || a == b && mine < theirs;
        }
    }

    private volatile boolean[] flag = new boolean[2];
    private volatile Label[] label = {new Label(), new Label()};

    @Override
    protected void lock(int me) {
        int other = 1 - me;
        flag[me] = true; // race: Bakery
        Label ticket = new Label();
        ticket.counter = label[other].counter + 1; // race: Bakery
        label[me] = ticket; // race: Bakery
        while (flag[other] && label[other].before(other, ticket, me)) { // race: Bakery
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        flag[me] = false; // race: Bakery
    }

    public static void main(String[] args) throws InterruptedException {
        new Bakery().count();
    }
}
