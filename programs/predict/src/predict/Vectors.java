package predict;

/**
 * A synchronized vector, and a copy of it that asks for the size and then for
 * the elements: `Vectors broken`; `Vectors repaired` holds the lock for both.
 */
public final class Vectors {
    static final class Vector {
        private int[] elements = new int[8];
        private int size;

        Vector() {}

        synchronized int size() {
            return size;
        }

        synchronized void clear() {
            size = 0;
        }

        synchronized void add(int element) {
            elements[size] = element;
            size = size + 1;
        }

        synchronized void into(int[] target) {
            for (int i = 0; i < size; i++) {
                target[i] = elements[i];
            }
        }
    }

    private Vectors() {}

    static int[] copy(Vector from) {
        int[] copy = new int[from.size()];
        from.into(copy);
        return copy;
    }

    static int[] copyTogether(Vector from) {
        synchronized (from) {
            int[] copy = new int[from.size()];
            from.into(copy);
            return copy;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean repaired = args[0].equals("repaired");
        Vector vector = new Vector();
        vector.add(1);
        Thread copier = new Thread(() -> {
            if (repaired) {
                copyTogether(vector);
            } else {
                copy(vector);
            }
        }, "copier");
        Thread cleaner = new Thread(() -> {
            sleep();
            vector.clear();
        }, "cleaner");
        copier.start();
        cleaner.start();
        copier.join();
        cleaner.join();
    }

    private static void sleep() {
        try {
            Thread.sleep(600);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
