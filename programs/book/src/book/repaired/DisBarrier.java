package book.repaired;

import book.Two;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The dissemination barrier: in each round a thread tells a partner; atomic flags. */
public final class DisBarrier extends Two {
    static final class Node {
        /** By parity, then round. */
        final AtomicIntegerArray[] flag = {new AtomicIntegerArray(1), new AtomicIntegerArray(1)};
        Node[] partner;
        /** Of the thread itself. */
        int parity;
        int sense = 1;
    }

    private final Node[] nodes = {new Node(), new Node()};
    private final int[] log = new int[2];

    private DisBarrier() {
        nodes[0].partner = new Node[] {nodes[1]};
        nodes[1].partner = new Node[] {nodes[0]};
    }

    private void await(int me) {
        Node node = nodes[me];
        for (int round = 0; round < node.partner.length; round++) {
            node.partner[round].flag[node.parity].set(round, node.sense);
            while (node.flag[node.parity].get(round) != node.sense) {
                Thread.onSpinWait();
            }
        }
        if (node.parity == 1) {
            node.sense = 1 - node.sense;
        }
        node.parity = 1 - node.parity;
    }

    @Override
    protected void work(int me) {
        log[me] = 1;
        await(me);
        check(log[1 - me] == 1, "somebody came through too early");
    }

    public static void main(String[] args) throws InterruptedException {
        new DisBarrier().run();
    }
}
