import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.stream.Stream;

/** Writes every class file of this JDK to standard output: its path, its length, its bytes. */
class Dump {
    public static void main(String[] args) throws Exception {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 20));
                Stream<Path> all = Files.walk(modules)) {
            for (Iterator<Path> i = all.iterator(); i.hasNext(); ) {
                Path path = i.next();
                if (path.toString().endsWith(".class")) {
                    byte[] bytes = Files.readAllBytes(path);
                    out.writeUTF(modules.relativize(path).toString());
                    out.writeInt(bytes.length);
                    out.write(bytes);
                }
            }
        }
    }
}
