package book.repaired;

import book.Item;
import book.Two;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** A set with a lock for each stripe of its buckets, and an atomic size. */
public final class StripedHashSet extends Two {
    private final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
    private Item[] table = new Item[2];
    private final AtomicInteger size = new AtomicInteger();

    private void add(int key) {
        ReentrantLock lock = locks[key % locks.length];
        lock.lock();
        try {
            int at = key % table.length;
            if (!Item.contains(table[at], key)) {
                table[at] = new Item(key, table[at]);
                size.getAndIncrement();
            }
        } finally {
            lock.unlock();
        }
        if (size.get() > 4) {
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
