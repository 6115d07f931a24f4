package papers;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A table of two rows whose elements move from one to the other. Stands for TCuckooHashSet in JRF-E's table 2: elements are
 * written under their lock and looked at without it.
 */
public final class CuckooTable {
    private final int[][] table = new int[2][4];
    private final ReentrantLock lock = new ReentrantLock();

    private void put(int value) {
        lock.lock();
        try {
            int place = value % 4;
            table[1][place] = table[0][place]; // race: cuckoo
            table[0][place] = value; // race: cuckoo
        } finally {
            lock.unlock();
        }
    }

    private boolean has(int value) {
        int place = value % 4;
        return table[0][place] == value || table[1][place] == value; // race: cuckoo
    }

    public static void main(String[] args) throws InterruptedException {
        CuckooTable set = new CuckooTable();
        Thread writer = new Thread(() -> set.put(5), "writer");
        Thread reader = new Thread(() -> set.has(5), "reader");
        writer.start();
        reader.start();
        writer.join();
        reader.join();
        System.out.println("done");
    }
}
