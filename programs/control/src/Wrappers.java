import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Synchronized collections of the JDK, used as their documentation seems to allow. Each call is
 * synchronized on its own collection; of the collection that is its argument nothing is locked
 * while it is walked through.
 *
 * <p>Arguments: which collection, what the one thread calls with it as the argument, and what the
 * other calls on it meanwhile.
 */
public final class Wrappers {
    private Wrappers() {}

    static Collection<Integer> make(String kind, Integer... elements) {
        List<Integer> list = Arrays.asList(elements);
        switch (kind) {
            case "LinkedList":
                return Collections.synchronizedList(new LinkedList<>(list));
            case "ArrayList":
                return Collections.synchronizedList(new ArrayList<>(list));
            case "HashSet":
                return Collections.synchronizedSet(new HashSet<>(list));
            case "TreeSet":
                return Collections.synchronizedSet(new TreeSet<>(list));
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    static void call(String operation, Collection<Integer> mine, Collection<Integer> other) {
        switch (operation) {
            case "containsAll":
                mine.containsAll(other);
                break;
            case "equals":
                mine.equals(other);
                break;
            case "addAll":
                mine.addAll(other);
                break;
            case "removeAll":
                mine.removeAll(other);
                break;
            case "add":
                mine.add(9);
                break;
            case "clear":
                mine.clear();
                break;
            default:
                throw new IllegalArgumentException(operation);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Collection<Integer> a = make(args[0], 1, 2, 3);
        Collection<Integer> b = make(args[0], 1, 2, 3);
        Thread reader = new Thread(() -> call(args[1], a, b), "reader");
        Thread writer = new Thread(() -> call(args[2], b, Set.of(1, 2, 7)), "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
        System.out.println("done");
    }
}
