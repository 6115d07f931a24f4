package bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The Java compiler, in process, over all sources below a directory:
 * {@code Javac DIRECTORY [TIMES]}. The class files stay in memory; a checksum over
 * their names and bytes is printed.
 */
public final class Javac {
    private Javac() {}

    private static final class ClassFile extends SimpleJavaFileObject {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        ClassFile(String name) {
            super(URI.create("memory:///" + name.replace('.', '/') + ".class"), Kind.CLASS);
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }
    }

    private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ClassFile> written = new TreeMap<>();

        InMemory(JavaFileManager below) {
            super(below);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ClassFile file = new ClassFile(name);
            written.put(name, file);
            return file;
        }

        long checksum() {
            CRC32 crc = new CRC32();
            written.forEach((name, file) -> {
                crc.update(name.getBytes(StandardCharsets.UTF_8));
                crc.update(file.bytes.toByteArray());
            });
            return crc.getValue();
        }
    }

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        int times = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        List<Path> sources;
        try (Stream<Path> files = Files.walk(directory)) {
            sources = files.filter(file -> file.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
        long checksum = 0;
        for (int i = 0; i < times; i++) {
            checksum = checksum * 31 + compile(sources);
        }
        System.out.println(checksum);
    }

    private static long compile(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (var standard = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                InMemory files = new InMemory(standard)) {
            var units = standard.getJavaFileObjectsFromPaths(sources);
            List<String> options = List.of("-proc:none", "-nowarn", "-g", "-XDignore.symbol.file");
            if (!compiler.getTask(null, files, null, options, null, units).call()) {
                throw new IllegalStateException("the sources do not compile");
            }
            return files.checksum();
        }
    }
}
