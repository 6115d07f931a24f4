package predict;

/**
 * Appending one synchronized buffer to another, as StringBuffer once did: its
 * length is asked for, and then that many characters, each under the other's
 * lock, not both. `Buffers broken`, and `Buffers repaired`.
 */
public final class Buffers {
    static final class Buffer {
        private char[] chars = new char[16];
        private int length;

        synchronized int length() {
            return length;
        }

        synchronized void copy(int count, char[] into, int at) {
            if (count > length) {
                throw new IndexOutOfBoundsException();
            }
            for (int i = 0; i < count; i++) {
                into[at + i] = chars[i];
            }
        }

        synchronized void truncate(int to) {
            length = to;
        }

        synchronized void add(char c) {
            chars[length] = c;
            length = length + 1;
        }

        synchronized void append(Buffer other) {
            int count = other.length();
            other.copy(count, chars, length);
            length = length + count;
        }

        synchronized void appendTogether(Buffer other) {
            synchronized (other) {
                int count = other.length();
                other.copy(count, chars, length);
                length = length + count;
            }
        }
    }

    private Buffers() {}

    public static void main(String[] args) throws InterruptedException {
        boolean repaired = args[0].equals("repaired");
        Buffer a = new Buffer();
        Buffer b = new Buffer();
        b.add('b');
        Thread first = new Thread(() -> {
            if (repaired) {
                a.appendTogether(b);
            } else {
                a.append(b);
            }
        }, "first");
        Thread second = new Thread(() -> {
            sleep();
            b.truncate(0);
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static void sleep() {
        try {
            Thread.sleep(600);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
