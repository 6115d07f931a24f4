package java.lang;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * For repairs that are tried: through these, elements of plain arrays are accessed as if they were
 * volatile. Not used unless a repair is, and not before method handles work.
 */
public final class PhotofinishElements {
    public static final VarHandle BOOLEANS = MethodHandles.arrayElementVarHandle(boolean[].class);
    public static final VarHandle BYTES = MethodHandles.arrayElementVarHandle(byte[].class);
    public static final VarHandle CHARS = MethodHandles.arrayElementVarHandle(char[].class);
    public static final VarHandle SHORTS = MethodHandles.arrayElementVarHandle(short[].class);
    public static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
    public static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    public static final VarHandle FLOATS = MethodHandles.arrayElementVarHandle(float[].class);
    public static final VarHandle DOUBLES = MethodHandles.arrayElementVarHandle(double[].class);
    public static final VarHandle OBJECTS = MethodHandles.arrayElementVarHandle(Object[].class);

    private PhotofinishElements() {}
}
