package papers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.TreeSet;
import java.util.Vector;

/**
 * Two collections of the JDK behind {@code Collections.synchronized*}, and threads that call their methods: those that
 * walk through the other collection without its lock, and those that change it meanwhile. Stands for the rows Vector,
 * LinkedList, ArrayList, HashSet and TreeSet of RaceFuzzer's table 1; the classes are those of the JDK that runs it.
 *
 * <p>Argument: which collection.
 */
public final class SynchronizedCollections {
    private SynchronizedCollections() {}

    private static Collection<Integer> make(String kind, Integer... elements) {
        List<Integer> list = Arrays.asList(elements);
        switch (kind) {
            case "Vector":
                return new Vector<>(list);
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

    public static void main(String[] args) throws InterruptedException {
        Collection<Integer> first = make(args[0], 1, 2, 3, 4, 5);
        Collection<Integer> second = make(args[0], 1, 2, 3, 4, 5);
        Thread[] threads = {
            new Thread(() -> first.containsAll(second), "containsAll"),
            new Thread(() -> first.equals(second), "equals"),
            new Thread(() -> first.addAll(second), "addAll"),
            new Thread(() -> {
                for (Integer element : second) {
                    element.intValue();
                }
            }, "iterate"),
            new Thread(() -> second.removeAll(List.of(1, 2, 7)), "removeAll"),
            new Thread(() -> second.add(9), "add"),
            new Thread(second::clear, "clear"),
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
