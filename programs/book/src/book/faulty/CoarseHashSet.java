package book.faulty;

import book.Item;
import book.Two;

/** A set with one lock; whether it must grow is asked without it. */
public final class CoarseHashSet extends Two {
    private final Object lock = new Object();
    private Item[] table = new Item[2];
    private int size;

    private void add(int key) {
        synchronized (lock) {
            int at = key % table.length;
            if (!Item.contains(table[at], key)) {
                table[at] = new Item(key, table[at]);
                size++; // race: CoarseHashSet
            }
        }
        if (size > 4) { // race: CoarseHashSet
            grow();
        }
    }

    private void grow() {
        synchronized (lock) {
            table = Item.spread(table);
        }
    }

    @Override
    protected void work(int me) {
        add(me);
        add(me + 2);
    }

    public static void main(String[] args) throws InterruptedException {
        new CoarseHashSet().run();
    }
}
