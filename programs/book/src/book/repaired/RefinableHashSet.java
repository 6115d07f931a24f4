package book.repaired;

import book.Item;
import book.Two;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.locks.ReentrantLock;

/** A set whose stripes become more as it grows; who grows it is the owner meanwhile. */
public final class RefinableHashSet extends Two {
    private final AtomicMarkableReference<Thread> owner =
            new AtomicMarkableReference<>(null, false);
    private volatile ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
    private volatile Item[] table = new Item[2];
    private final AtomicInteger size = new AtomicInteger();

    /** The lock of the key's stripe, taken while nobody grows the set. */
    private ReentrantLock acquire(int key) {
        boolean[] mark = {true};
        while (true) {
            Thread who;
            do {
                who = owner.get(mark);
            } while (mark[0] && who != Thread.currentThread());
            ReentrantLock[] before = locks;
            ReentrantLock lock = before[key % before.length];
            lock.lock();
            who = owner.get(mark);
            if ((!mark[0] || who == Thread.currentThread()) && locks == before) {
                return lock;
            }
            lock.unlock();
        }
    }

    private void add(int key) {
        ReentrantLock lock = acquire(key);
        try {
            Item[] now = table;
            int at = key % now.length;
            if (!Item.contains(now[at], key)) {
                now[at] = new Item(key, now[at]);
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
        if (!owner.compareAndSet(null, Thread.currentThread(), false, true)) {
            return;
        }
        try {
            for (ReentrantLock lock : locks) {
                while (lock.isLocked()) {
                    Thread.onSpinWait();
                }
            }
            table = Item.spread(table);
            ReentrantLock[] more = new ReentrantLock[2 * locks.length];
            for (int at = 0; at < more.length; at++) {
                more[at] = new ReentrantLock();
            }
            locks = more;
        } finally {
            owner.set(null, false);
        }
    }

    @Override
    protected void work(int me) {
        add(me);
    }

    public static void main(String[] args) throws InterruptedException {
        new RefinableHashSet().run();
    }
}
