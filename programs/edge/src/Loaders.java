import java.io.IOException;
import java.io.InputStream;
import java.util.function.IntSupplier;

/** The same class, loaded twice by two loaders: two classes, with statics and locks of their own. */
public final class Loaders {
    /** What is loaded twice. */
    public static final class Counted implements IntSupplier {
        private static int count;
        private int mine;

        @Override
        public int getAsInt() {
            synchronized (Counted.class) {
                count++;
            }
            mine++;
            return count * 100 + mine;
        }
    }

    /** Defines the counted class itself instead of asking its parent. */
    private static final class Copying extends ClassLoader {
        Copying() {
            super(Loaders.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Loaders$Counted")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = Loaders.class.getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private Loaders() {}

    public static void main(String[] args) throws Exception {
        IntSupplier[] copies = {make(new Copying()), make(new Copying()), new Counted()};
        int[][] results = new int[copies.length][3];
        Thread[] threads = new Thread[copies.length];
        for (int i = 0; i < copies.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                for (int round = 0; round < 3; round++) {
                    results[me][round] = copies[me].getAsInt();
                }
            });
            threads[i].start();
        }
        for (int i = 0; i < copies.length; i++) {
            threads[i].join();
            System.out.println(results[i][0] + " " + results[i][1] + " " + results[i][2] + " "
                    + copies[i].getClass().getName() + " " + (copies[i].getClass() == Counted.class));
        }
    }

    private static IntSupplier make(ClassLoader loader) throws ReflectiveOperationException {
        return (IntSupplier) loader.loadClass("Loaders$Counted").getConstructor().newInstance();
    }
}
