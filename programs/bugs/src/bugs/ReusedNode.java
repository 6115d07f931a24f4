package bugs;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stack of three nodes that are used again: the head comes back while another thread was about
 * to replace it (ABA), and a node is taken twice.
 */
public final class ReusedNode {
    private final int[] next = {-1, 0, 1};
    private final AtomicInteger[] taken = {
        new AtomicInteger(), new AtomicInteger(), new AtomicInteger()
    };
    private final AtomicInteger head = new AtomicInteger(2);
    private final Object lock = new Object();

    public static void main(String[] args) {
        ReusedNode stack = new ReusedNode();
        Bugs.together(stack::pop, stack::popTwiceAndPush);
    }

    private int pop() {
        while (true) {
            int top = head.get();
            if (top < 0) {
                return -1;
            }
            int rest;
            synchronized (lock) {
                rest = next[top];
            }
            if (head.compareAndSet(top, rest)) {
                Bugs.check(taken[top].incrementAndGet() == 1, "taken twice: " + top);
                return top;
            }
        }
    }

    private void push(int node) {
        taken[node].decrementAndGet();
        while (true) {
            int top = head.get();
            synchronized (lock) {
                next[node] = top;
            }
            if (head.compareAndSet(top, node)) {
                return;
            }
        }
    }

    private void popTwiceAndPush() {
        int first = pop();
        int second = pop();
        if (first >= 0) {
            push(first);
        }
        if (second >= 0) {
            pop();
        }
    }
}
