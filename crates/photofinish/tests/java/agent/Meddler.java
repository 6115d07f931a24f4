import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;

/** An agent of somebody else's: transforms, retransforms and redefines classes. */
public final class Meddler {
    private Meddler() {}

    static final class Victim {
        private int calls;

        int call() {
            return ++calls;
        }
    }

    private static final class Copier implements ClassFileTransformer {
        @Override
        public byte[] transform(
                Module module, ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            return name != null && name.startsWith("BankAccount") ? bytes.clone() : null;
        }
    }

    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        instrumentation.addTransformer(new Copier(), true);
        Victim victim = new Victim();
        victim.call();
        instrumentation.retransformClasses(ArrayList.class, HashMap.class, Victim.class);
        try (InputStream in = Meddler.class.getResourceAsStream("Meddler$Victim.class")) {
            instrumentation.redefineClasses(new ClassDefinition(Victim.class, in.readAllBytes()));
        }
        System.out.println("premain " + argument + " " + victim.call());
    }
}
