package book.repaired;

import book.Two;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** A set of lock-free chains in an array that is filled when a bucket is first needed. */
public final class LockFreeHashSet extends Two {
    static final class Node {
        final int key;
        AtomicReference<Node> next;

        Node(int key, Node next) {
            this.key = key;
            this.next = new AtomicReference<>(next);
        }
    }

    static final class BucketList {
        Node head;

        BucketList() {
            head = new Node(Integer.MIN_VALUE, null);
        }

        boolean add(int key) {
            while (true) {
                Node before = head;
                Node at = before.next.get();
                while (at != null && at.key < key) {
                    before = at;
                    at = at.next.get();
                }
                if (at != null && at.key == key) {
                    return false;
                }
                if (before.next.compareAndSet(at, new Node(key, at))) {
                    return true;
                }
            }
        }
    }

    private final AtomicReferenceArray<BucketList> bucket = new AtomicReferenceArray<>(1);

    /** The bucket at this place; if two threads make it, the first one stays. */
    private BucketList bucket(int at) {
        if (bucket.get(at) == null) {
            bucket.compareAndSet(at, null, new BucketList());
        }
        return bucket.get(at);
    }

    @Override
    protected void work(int me) {
        bucket(0).add(me);
    }

    public static void main(String[] args) throws InterruptedException {
        new LockFreeHashSet().run();
    }
}
