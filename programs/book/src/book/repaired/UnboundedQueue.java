package book.repaired;

import book.Two;
import java.util.concurrent.locks.ReentrantLock;

/** A queue with a lock for each end; they meet at a node's link. */
public final class UnboundedQueue extends Two {
    static final class Node {
        int value;
        volatile Node next;

        Node(int value) {
            this.value = value;
        }
    }

    private final ReentrantLock enqLock = new ReentrantLock();
    private final ReentrantLock deqLock = new ReentrantLock();
    private Node head = new Node(0);
    private Node tail = head;

    private void enq(int value) {
        enqLock.lock();
        try {
            Node node = new Node(value);
            tail.next = node;
            tail = node;
        } finally {
            enqLock.unlock();
        }
    }

    /** What was first, or 0. */
    private int deq() {
        deqLock.lock();
        try {
            Node first = head.next;
            if (first == null) {
                return 0;
            }
            head = first;
            return first.value;
        } finally {
            deqLock.unlock();
        }
    }

    @Override
    protected void work(int me) {
        if (me == 0) {
            enq(1);
            enq(2);
        } else {
            int got = deq();
            check(got == 0 || got == 1, "another order than that of putting");
            deq();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new UnboundedQueue().run();
    }
}
