package book.faulty;

import book.Two;

/** A sorted list searched without locks; what was found is locked and checked again. */
public final class OptimisticList extends Two {
    static final class Entry {
        int key;
        Entry next;

        Entry(int key, Entry next) {
            this.key = key; // race: OptimisticList
            this.next = next; // race: OptimisticList
        }
    }

    private final Entry head =
            new Entry(Integer.MIN_VALUE, new Entry(Integer.MAX_VALUE, null));

    private boolean add(int key) {
        while (true) {
            Entry before = head;
            Entry at = before.next; // race: OptimisticList
            while (at.key < key) { // race: OptimisticList
                before = at;
                at = at.next; // race: OptimisticList
            }
            synchronized (before) {
                synchronized (at) {
                    if (linked(before, at)) {
                        if (at.key == key) {
                            return false;
                        }
                        before.next = new Entry(key, at); // race: OptimisticList
                        return true;
                    }
                }
            }
        }
    }

    /** Both are in the list, one after the other. */
    private boolean linked(Entry before, Entry at) {
        Entry entry = head;
        while (entry.key <= before.key) {
            if (entry == before) {
                return before.next == at;
            }
            entry = entry.next; // race: OptimisticList
        }
        return false;
    }

    @Override
    protected void work(int me) {
        check(add(me + 1), "nobody else put it there");
    }

    public static void main(String[] args) throws InterruptedException {
        new OptimisticList().run();
    }
}
