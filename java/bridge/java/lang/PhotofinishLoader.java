package java.lang;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Enumeration;
import java.util.HashMap;

/**
 * Loads the program's classes for one execution of many, as the application class loader would: static
 * fields and initialisers begin anew with it. Where they can be put back (see {@link PhotofinishStatics}), further
 * executions have the same loader. Class files are read once.
 */
final class PhotofinishLoader extends ClassLoader {
    static {
        registerAsParallelCapable(); // as the one that it stands for
    }

    /** The class files of the program, and null for those that there are not. */
    private static final HashMap<String, byte[]> FILES = new HashMap<>();

    /** Finds files on the class path. */
    private final ClassLoader finder;

    /** Of the execution that is made. */
    static PhotofinishLoader current;

    /** What is put back where another execution has the same classes. */
    final PhotofinishStatics statics = new PhotofinishStatics(this);

    PhotofinishLoader(ClassLoader finder) {
        super(finder.getParent()); // without a name: stack traces show the names of loaders
        this.finder = finder;
    }

    /** A class of this execution, loaded if it is not yet, as resolving a statement does; null if there is none. */
    Class<?> loaded(String name) {
        try {
            return loadClass(name, false);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /** What happens in here is nobody's: the probes of the thread rest. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        Thread self = Thread.currentThread();
        PhotofinishThread t = self.$pf;
        self.$pf = null;
        try {
            if (!isKnown(name)) return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> c = findLoadedClass(name);
                return c == null ? findClass(name) : c;
            }
        } finally {
            self.$pf = t;
        }
    }

    /** The parent need not be asked again for what it did not have. */
    private static boolean isKnown(String name) {
        synchronized (FILES) {
            return FILES.get(path(name)) != null;
        }
    }

    private static String path(String name) {
        return name.replace('.', '/').concat(".class");
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] file = file(path(name));
        if (file == null) throw new ClassNotFoundException(name);
        Class<?> c = defineClass(name, file, 0, file.length);
        statics.add(name, c);
        return c;
    }

    private byte[] file(String path) {
        synchronized (FILES) {
            if (FILES.containsKey(path)) return FILES.get(path);
            byte[] file = read(path);
            FILES.put(path, file);
            return file;
        }
    }

    private byte[] read(String path) {
        try (InputStream in = finder.getResourceAsStream(path)) {
            return in == null ? null : in.readAllBytes();
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    protected URL findResource(String name) {
        return finder.getResource(name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
        return finder.getResources(name);
    }
}
