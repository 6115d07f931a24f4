package book.faulty;

import book.Two;

/** The dissemination barrier: in each round a thread tells a partner; plain flags. */
public final class DisBarrier extends Two {
    static final class Node {
        /** By parity, then round. */
        final boolean[][] flag = {{false}, {false}};
        Node[] partner;
        /** Of the thread itself. */
        int parity;
        boolean sense = true;
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
            node.partner[round].flag[node.parity][round] = node.sense; // race: DisBarrier
            while (node.flag[node.parity][round] != node.sense) { // race: DisBarrier
                Thread.onSpinWait();
            }
        }
        if (node.parity == 1) {
            node.sense = !node.sense;
        }
        node.parity = 1 - node.parity;
    }

    @Override
    protected void work(int me) {
        log[me] = 1; // race: DisBarrier
        await(me);
        check(log[1 - me] == 1, "somebody came through too early"); // race: DisBarrier
    }

    public static void main(String[] args) throws InterruptedException {
        new DisBarrier().run();
    }
}
