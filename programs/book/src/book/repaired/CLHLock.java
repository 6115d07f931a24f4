package book.repaired;

import book.Mutex;
import java.util.concurrent.atomic.AtomicReference;

/** A queue lock: each thread spins on the node before its own. */
public final class CLHLock extends Mutex {
    static final class QNode {
        volatile boolean locked;
    }

    private final AtomicReference<QNode> tail = new AtomicReference<>(new QNode());
    /** Of each thread; nobody else looks. */
    private final QNode[] mine = new QNode[2];

    @Override
    protected void lock(int me) {
        QNode node = new QNode();
        mine[me] = node;
        node.locked = true;
        QNode before = tail.getAndSet(node);
        while (before.locked) {
            Thread.onSpinWait();
        }
    }

    @Override
    protected void unlock(int me) {
        mine[me].locked = false;
    }

    public static void main(String[] args) throws InterruptedException {
        new CLHLock().count();
    }
}
