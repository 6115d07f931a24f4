package book.repaired;

import book.Two;
import java.util.concurrent.atomic.AtomicInteger;

/** A barrier in the form of a tree: children tell parents, the root tells all. */
public final class StaticTreeBarrier extends Two {
    private final class Node {
        private final int children;
        private final Node parent;
        private final AtomicInteger missing;
        /** Of the thread itself. */
        private boolean mine = true;

        Node(Node parent, int children) {
            this.parent = parent;
            this.children = children;
            missing = new AtomicInteger(children);
        }

        void await() {
            while (missing.get() > 0) {
                Thread.onSpinWait();
            }
            missing.set(children);
            if (parent == null) {
                sense = mine;
            } else {
                parent.missing.getAndDecrement();
                while (sense != mine) {
                    Thread.onSpinWait();
                }
            }
            mine = !mine;
        }
    }

    private volatile boolean sense;
    private final Node root = new Node(null, 1);
    private final Node[] nodes = {root, new Node(root, 0)};
    private final int[] log = new int[2];

    @Override
    protected void work(int me) {
        log[me] = 1;
        nodes[me].await();
        check(log[1 - me] == 1, "somebody came through too early");
    }

    public static void main(String[] args) throws InterruptedException {
        new StaticTreeBarrier().run();
    }
}
