package book.faulty;

import book.Item;
import book.Two;
import java.util.concurrent.locks.ReentrantLock;

/** A set with a lock for each stripe of its buckets, and a size that all count. */
public final class StripedHashSet extends Two {
    private final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
    private Item[] table = new Item[2];
    private int size;

    private void add(int key) {
        ReentrantLock lock = locks[key % locks.length];
        lock.lock();
        try {
            int at = key % table.length;
            if (!Item.contains(table[at], key)) {
                table[at] = new Item(key, table[at]);
                size++; // race: StripedHashSet
            }
        } finally {
            lock.unlock();
        }
        if (size > 4) { // race: StripedHashSet
            grow();
        }
    }

    private void grow() {
        for (ReentrantLock lock : locks) {
            lock.lock();
        }
        try {
            table = Item.spread(table);
        } finally {
            for (ReentrantLock lock : locks) {
                lock.unlock();
            }
        }
    }

    @Override
    protected void work(int me) {
        add(me);
    }

    public static void main(String[] args) throws InterruptedException {
        new StripedHashSet().run();
    }
}
