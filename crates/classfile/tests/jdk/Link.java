import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;

/** Links every class named in a file, then compiles a source with the compiler just linked. */
class Link {
    public static void main(String[] args) throws Exception {
        List<String> names = Files.readAllLines(Path.of(args[0]));
        int linked = 0;
        for (String name : names) {
            try {
                // Asking for methods links, and linking verifies; nothing is initialised.
                Class.forName(name, false, Link.class.getClassLoader()).getDeclaredMethods();
                linked++;
            } catch (Throwable t) {
                System.out.println("FAILED " + name + ": " + t);
            }
        }
        System.out.println("linked " + linked + " of " + names.size());
        int exit = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", args[2], args[1]);
        System.out.println("compiler exit " + exit);
    }
}
