package bugs;

import java.util.ArrayDeque;
import java.util.Deque;

/** `if` where `while` belongs: a third thread takes the item before the one that was woken. */
public final class IfWait {
    private final Deque<Integer> items = new ArrayDeque<>();

    public static void main(String[] args) {
        IfWait queue = new IfWait();
        Bugs.together(queue::take, queue::take, () -> queue.put(1), () -> queue.put(2));
    }

    private synchronized void put(int item) {
        items.add(item);
        notifyAll();
    }

    private synchronized void take() {
        if (items.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        items.remove();
    }
}
