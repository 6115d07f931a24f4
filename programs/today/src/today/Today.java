package today;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Java of today: records, sealed interfaces, patterns, a hidden class that is a nestmate and has a dynamic constant,
 * a virtual and a platform thread. Two fields race; what the hidden class uses has a lock, like the rest.
 */
public final class Today {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final AtomicInteger MISSING = new AtomicInteger(2);

    static int racy;
    private static int guarded;
    private static int hidden;

    private Today() {}

    sealed interface Shape permits Square, Circle {}

    record Square(int side) implements Shape {}

    record Circle(int radius, int[] cell) implements Shape {}

    private static int area(Shape shape) {
        return switch (shape) {
            case Square(int side) when side > 9 -> side;
            case Square(int side) -> side * side;
            case Circle(int radius, int[] cell) -> 3 * radius * radius + cell[0];
        };
    }

    /** The bootstrap method of the constant. */
    public static Object seven(Lookup lookup, String name, Class<?> type) {
        return 7;
    }

    /** A class without a name: `static int next() { return Today.hidden += constant; }`. */
    private static MethodHandle hiddenClass() throws ReflectiveOperationException {
        ClassDesc today = ClassDesc.of("today.Today");
        MethodTypeDesc signature = MethodTypeDesc.of(ConstantDescs.CD_int);
        MethodTypeDesc bootstrap = MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_MethodHandles_Lookup,
                ConstantDescs.CD_String, ConstantDescs.CD_Class);
        var seven = MethodHandleDesc.ofMethod(java.lang.constant.DirectMethodHandleDesc.Kind.STATIC, today, "seven",
                bootstrap);
        var constant = DynamicConstantDesc.ofNamed(seven, "seven", ConstantDescs.CD_int);
        byte[] bytes = ClassFile.of().build(ClassDesc.of("today.Made"), made -> made
                .withMethodBody("next", signature, ClassFile.ACC_STATIC, code -> code
                        .getstatic(today, "hidden", ConstantDescs.CD_int)
                        .ldc(constant)
                        .iadd()
                        .dup()
                        .putstatic(today, "hidden", ConstantDescs.CD_int)
                        .ireturn()));
        Lookup lookup = MethodHandles.lookup();
        Lookup made = lookup.defineHiddenClass(bytes, true, Lookup.ClassOption.NESTMATE);
        return made.findStatic(made.lookupClass(), "next", MethodType.methodType(int.class));
    }

    private static void work(MethodHandle next, Shape shape) {
        MISSING.decrementAndGet();
        while (MISSING.get() > 0) Thread.yield();
        racy++; // race: today
        Versioned.name();
        LOCK.lock();
        try {
            guarded += area(shape);
            guarded += (int) next.invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] args) throws Exception {
        MethodHandle next = hiddenClass();
        int[] cell = {1};
        Thread virtual = Thread.ofVirtual().start(() -> work(next, new Square(4)));
        Thread platform = Thread.ofPlatform().start(() -> work(next, new Circle(2, cell)));
        virtual.join();
        platform.join();
        System.out.println(Versioned.name() + " " + guarded);
    }
}
