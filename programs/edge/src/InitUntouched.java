/**
 * Using a static of a superclass through its subclass initialises the superclass only, and reading a
 * field of an object while its class is being initialised by a thread that waits for the reader
 * waits for nobody.
 */
public final class InitUntouched {
    private InitUntouched() {}

    static class Above {
        static int x;

        static {
            x = 1;
            System.out.println("above");
        }
    }

    static final class Below extends Above {
        static {
            System.out.println("below");
        }
    }

    static final class Waiting {
        int x = 5;

        static {
            Object early = new Waiting();
            Thread reader = new Thread(new Reader(early));
            reader.start();
            try {
                reader.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Reader implements Runnable {
        private final Object early;

        Reader(Object early) {
            this.early = early;
        }

        @Override
        public void run() {
            System.out.println(((Waiting) early).x);
        }
    }

    public static void main(String[] args) {
        System.out.println(Below.x);
        Below.x = 2;
        System.out.println(Below.x);
        System.out.println(new Waiting().x);
    }
}
