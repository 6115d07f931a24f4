package book.faulty;

import book.Mutex;
import java.util.concurrent.atomic.AtomicReference;

/** A queue lock: each thread spins on its own node and hands over to the next. */
public final class MCSLock extends Mutex {
    static final class QNode {
        boolean locked;
        QNode next;
    }

    private final AtomicReference<QNode> tail = new AtomicReference<>();
    /** Of each thread; nobody else looks. */
    private final QNode[] mine = {new QNode(), new QNode()};

    @Override
    protected void lock(int me) {
        QNode node = mine[me];
        QNode before = tail.getAndSet(node);
        if (before != null) {
            node.locked = true;
            before.next = node; // race: MCSLock
            while (node.locked) { // race: MCSLock
                Thread.onSpinWait();
            }
        }
    }

    @Override
    protected void unlock(int me) {
        QNode node = mine[me];
        if (node.next == null) { // race: MCSLock
            if (tail.compareAndSet(node, null)) {
                return;
            }
            while (node.next == null) { // race: MCSLock
                Thread.onSpinWait();
            }
        }
        node.next.locked = false; // race: MCSLock
        node.next = null;
    }

    public static void main(String[] args) throws InterruptedException {
        new MCSLock().count();
    }
}
