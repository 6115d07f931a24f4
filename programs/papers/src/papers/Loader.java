package papers;

/**
 * A class loader's table entry, filled in by one thread and looked at by others: figures 8 and 9 of jPredictor (Tomcat).
 * Repaired by half, as the authors of Tomcat first did it, the entry is still read without the lock.
 *
 * <p>Argument: {@code faulty}, {@code half} or {@code repaired}.
 */
public final class Loader {
    private byte[] content = {1, 2, 3};
    private String loaded;

    private synchronized void define() {
        if (loaded == null) {
            loaded = "class of " + content.length; // race: loader
            content = null; // race: loader
        }
    }

    private String find(String version) {
        switch (version) {
            case "faulty":
                if (content == null && loaded == null) { // race: loader
                    throw new IllegalStateException("class not found");
                }
                return loaded; // race: loader
            case "half":
                String clazz = loaded; // race: loader
                if (clazz != null) {
                    return clazz;
                }
                synchronized (this) {
                    if (content == null && loaded == null) {
                        throw new IllegalStateException("class not found");
                    }
                }
                break;
            default:
                synchronized (this) {
                    if (content == null && loaded == null) {
                        throw new IllegalStateException("class not found");
                    }
                    return loaded;
                }
        }
        return null;
    }

    public static void main(String[] args) throws InterruptedException {
        Loader loader = new Loader();
        Thread definer = new Thread(loader::define, "definer");
        Thread finder = new Thread(() -> loader.find(args[0]), "finder");
        definer.start();
        finder.start();
        definer.join();
        finder.join();
        System.out.println("done");
    }
}
