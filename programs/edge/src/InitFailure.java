/** Initialisers that throw: the first use and all later ones fail in the ways they must. */
public final class InitFailure {
    static int attempts;

    static final class Broken {
        static int value = compute();

        private static int compute() {
            attempts++;
            throw new IllegalStateException("cannot compute");
        }
    }

    static class BrokenBase {
        static final Object THING = thing();

        private static Object thing() {
            attempts++;
            return new int[-1];
        }
    }

    static final class Derived extends BrokenBase {
        static int fine = 1;
    }

    private InitFailure() {}

    public static void main(String[] args) throws InterruptedException {
        tryIt("first use", () -> System.out.println(Broken.value));
        tryIt("second use", () -> System.out.println(Broken.value));
        Thread thread = new Thread(() -> tryIt("another thread", () -> System.out.println(Broken.value)));
        thread.start();
        thread.join();
        tryIt("superclass", () -> System.out.println(Derived.fine));
        tryIt("superclass again", () -> System.out.println(Derived.fine));
        System.out.println(attempts + " attempts");
    }

    private static void tryIt(String what, Runnable body) {
        try {
            body.run();
            System.out.println(what + ": worked");
        } catch (LinkageError e) {
            Throwable cause = e.getCause();
            System.out.println(what + ": " + e + " because of " + cause);
        }
    }
}
