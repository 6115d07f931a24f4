import java.util.concurrent.atomic.AtomicIntegerArray;

/** Loops that wait as books write them: through getters, thread-locals, arrays and several fields. */
public final class BookLoops {
    /** Not final, and another class: its methods could be anything. */
    static class Gate {
        private volatile boolean open;

        boolean isOpen() {
            return open;
        }

        void open() {
            open = true;
        }
    }

    static final class Node {
        volatile Node next;
    }

    /** A barrier for two in which each has a flag for each time, which the other sets. */
    static final class Dissemination {
        static final class Party {
            final boolean[] arrived = new boolean[2];
            Party partner;
            int parity;
        }

        private final Party[] parties = {new Party(), new Party()};
        private final AtomicIntegerArray taken = new AtomicIntegerArray(1);
        private final ThreadLocal<Party> mine =
                ThreadLocal.withInitial(() -> parties[taken.getAndIncrement(0)]);

        Dissemination() {
            parties[0].partner = parties[1];
            parties[1].partner = parties[0];
        }

        void await() {
            int parity = mine.get().parity;
            mine.get().partner.arrived[parity] = true; // race: dissemination
            while (!mine.get().arrived[parity]) {} // race: dissemination
            mine.get().parity = 1 - parity;
        }
    }

    static volatile int[] elements = new int[1];

    final Gate gate = new Gate();
    final Node node = new Node();
    final AtomicIntegerArray cells = new AtomicIntegerArray(2);
    final ThreadLocal<Integer> slot = ThreadLocal.withInitial(() -> 1);
    volatile boolean stop;
    volatile int ping;
    boolean go;

    void run(String what) throws InterruptedException {
        switch (what) {
            case "spingetter" -> Litmus.together(
                    () -> {
                        while (!gate.isOpen()) {}
                    },
                    gate::open);
            case "spinthreadlocal" -> Litmus.together(
                    () -> {
                        slot.get();
                        while (cells.get(slot.get()) == 0) {}
                    },
                    () -> cells.set(1, 1));
            case "spinnext" -> Litmus.together(
                    () -> {
                        Node next;
                        while ((next = node.next) == null) {}
                        next.next = null;
                    },
                    () -> node.next = new Node());
            case "spinconflict" -> {
                cells.set(1, 1);
                Litmus.together(
                        () -> {
                            boolean conflict = true;
                            while (conflict) {
                                conflict = false;
                                for (int i = 0; i < 2 && !conflict; i++) conflict = cells.get(i) != 0;
                            }
                        },
                        () -> cells.set(1, 0));
            }
            case "spinsleep" -> Litmus.together(
                    () -> {
                        while (ping == 0) {
                            try {
                                Thread.sleep(1);
                            } catch (InterruptedException e) {
                                return;
                            }
                        }
                    },
                    () -> ping = 1);
            case "spintries" -> Litmus.together(
                    () -> {
                        int tries = 0;
                        while (ping == 0) {
                            if (++tries == 2) break;
                        }
                    },
                    () -> ping = 1);
            case "spinelement" -> Litmus.together(
                    () -> {
                        while (elements[0] == 0) {} // race: spinelement
                    },
                    () -> elements[0] = 1); // race: spinelement
            case "spineither" -> Litmus.together(
                    () -> {
                        while (!go && !stop) {} // race: spineither
                    },
                    () -> go = true); // race: spineither
            case "spinreflect" -> Litmus.together(
                    () -> {
                        while (!go && !stop) {}
                    },
                    () -> {
                        try {
                            BookLoops.class.getDeclaredField("go").setBoolean(this, true);
                        } catch (ReflectiveOperationException e) {
                            throw new AssertionError(e);
                        }
                    });
            case "spinendless" -> Litmus.together(
                    () -> {
                        while (!go) {}
                    },
                    () -> stop = true);
            case "dissemination" -> {
                Dissemination barrier = new Dissemination();
                Litmus.together(barrier::await, barrier::await);
            }
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new BookLoops().run(args[0]);
    }
}
