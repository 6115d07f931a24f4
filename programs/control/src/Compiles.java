import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles a class with the compiler of the JDK, in a thread, and runs what comes out in another. */
public final class Compiles {
    static final String SOURCE = "public class Made implements java.util.concurrent.Callable<String> {\n"
            + "    private final java.util.List<Integer> all = new java.util.ArrayList<>();\n"
            + "    public String call() {\n"
            + "        for (int i = 0; i < 5; i++) { all.add(i * i); }\n"
            + "        return all.stream().map(n -> \"n\" + n).reduce(\"\", String::concat);\n"
            + "    }\n"
            + "}\n";

    static final class Source extends SimpleJavaFileObject {
        Source() {
            super(URI.create("string:///Made.java"), Kind.SOURCE);
        }

        @Override
        public CharSequence getCharContent(boolean ignored) {
            return SOURCE;
        }
    }

    static final class Output extends SimpleJavaFileObject {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Output(String name) {
            super(URI.create("mem:///" + name + ".class"), Kind.CLASS);
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }
    }

    static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, Output> made = new HashMap<>();

        Memory(JavaFileManager parent) {
            super(parent);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            Output output = new Output(name);
            made.put(name, output);
            return output;
        }
    }

    static final class Loader extends ClassLoader {
        private final Map<String, Output> made;

        Loader(Map<String, Output> made) {
            this.made = made;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Output output = made.get(name);
            if (output == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = output.bytes.toByteArray();
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private Compiles() {}

    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Memory memory = new Memory(compiler.getStandardFileManager(null, null, null));
        boolean[] fine = new boolean[1];
        Thread compiling = new Thread(() -> fine[0] = compiler
                .getTask(null, memory, null, List.of("-proc:none"), null, List.of(new Source())).call());
        compiling.start();
        compiling.join();
        System.out.println("compiled " + fine[0]);
        Object instance = new Loader(memory.made).loadClass("Made").getConstructor().newInstance();
        Thread running = new Thread(() -> {
            try {
                System.out.println(((Callable<?>) instance).call());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        running.start();
        running.join();
    }
}
