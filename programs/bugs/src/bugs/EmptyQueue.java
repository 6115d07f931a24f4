package bugs;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Looking whether a queue has something and taking it are two calls. */
public final class EmptyQueue {
    private static final Queue<Integer> QUEUE = new ConcurrentLinkedQueue<>();

    public static void main(String[] args) {
        QUEUE.add(1);
        Bugs.together(EmptyQueue::take, EmptyQueue::take);
    }

    private static void take() {
        if (!QUEUE.isEmpty()) {
            QUEUE.remove();
        }
    }
}
