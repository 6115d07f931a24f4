package jrf.faulty;

/** Double-checked locking. */
public final class Figure5 {
    static final class Helper {
        int data;

        Helper() {
            data = 2011; // race: Figure5
        }
    }

    private Helper helper;

    private Figure5() {}

    Helper helper() {
        if (helper == null) { // race: Figure5
            synchronized (this) {
                if (helper == null) {
                    helper = new Helper(); // race: Figure5
                }
            }
        }
        return helper; // race: Figure5
    }

    static final class User extends Thread {
        private final Figure5 shared;

        User(Figure5 shared) {
            this.shared = shared;
        }

        @Override
        public void run() {
            if (shared.helper().data != 2011) { // race: Figure5
                throw new AssertionError("a helper without its data");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Figure5 shared = new Figure5();
        Thread first = new User(shared);
        Thread second = new User(shared);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
