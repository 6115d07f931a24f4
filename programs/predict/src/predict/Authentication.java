package predict;

/**
 * A resource that must not be accessed before somebody authenticated: the first
 * figure of the paper on jPredictor. `Authentication if` looks at the flag once,
 * `Authentication while` until it is set. In the run all goes well.
 */
public final class Authentication {
    static final class Flag {
        boolean set;
    }

    static final class Resource {
        private int uses;

        void authenticate() {
            uses = 0;
        }

        void access() {
            uses = uses + 1;
        }
    }

    private Authentication() {}

    public static void main(String[] args) throws InterruptedException {
        Flag flag = new Flag();
        Resource resource = new Resource();
        boolean again = args[0].equals("while");
        Thread task = new Thread(() -> {
            sleep();
            if (again) {
                spin(flag, resource);
            } else {
                look(flag, resource);
            }
        }, "task");
        task.start();
        resource.authenticate();
        flag.set = true;
        task.join();
    }

    private static void look(Flag flag, Resource resource) {
        if (!flag.set) {
            Thread.yield();
        }
        resource.access();
    }

    private static void spin(Flag flag, Resource resource) {
        while (!flag.set) {
            Thread.yield();
        }
        resource.access();
    }

    private static void sleep() {
        try {
            Thread.sleep(1500);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
