import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A set that one thread goes through, or makes a text of, by code of java.lang, while another adds to it. */
public class Printed {
    private static final Set<String> names = new HashSet<>(List.of("a", "b"));

    private static void look(String how) {
        switch (how) {
            case "forEach" -> names.forEach(name -> {});
            case "valueOf" -> String.valueOf(names);
            case "append" -> new StringBuilder().append(names);
            case "concat" -> check("all: " + names);
            case "join" -> check(String.join(", ", names));
            case "println" -> System.out.println(names);
            default -> throw new IllegalArgumentException(how);
        }
    }

    private static void check(String text) {
        if (text.isEmpty()) throw new IllegalStateException();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread looks = new Thread(() -> look(args[0]), "looks");
        Thread adds = new Thread(Printed::add, "adds");
        looks.start();
        adds.start();
        looks.join();
        adds.join();
    }

    private static void add() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            return;
        }
        names.add("c");
    }
}
