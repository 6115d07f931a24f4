import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.util.function.IntUnaryOperator;

/** Classes without a name that anybody could look up, defined from the bytes of an ordinary one. */
public final class Hidden {
    /** The ordinary one. */
    static final class Adder implements IntUnaryOperator {
        private static int uses;
        private int last;

        @Override
        public int applyAsInt(int n) {
            uses++;
            last += n;
            return last * 2 + uses;
        }
    }

    private Hidden() {}

    public static void main(String[] args) throws Exception {
        byte[] bytes;
        try (InputStream in = Hidden.class.getResourceAsStream("Hidden$Adder.class")) {
            bytes = in.readAllBytes();
        }
        for (int i = 0; i < 3; i++) {
            Lookup hidden = MethodHandles.lookup().defineHiddenClass(bytes, true, Lookup.ClassOption.NESTMATE);
            Class<?> type = hidden.lookupClass();
            IntUnaryOperator adder = (IntUnaryOperator) type.getDeclaredConstructor().newInstance();
            int[] result = new int[2];
            Thread thread = new Thread(() -> result[0] = adder.applyAsInt(5));
            thread.start();
            thread.join();
            result[1] = adder.applyAsInt(6);
            System.out.println(type.isHidden() + " " + type.getName().startsWith("Hidden$Adder/") + " "
                    + (type.getNestHost() == Hidden.class) + " " + result[0] + " " + result[1]);
        }
        System.out.println(new Adder().applyAsInt(5));
    }
}
