package book.faulty;

import book.Mutex;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Test, then test and set: the test is a plain read. */
public final class TTASLock extends Mutex {
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(TTASLock.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int state;

    @Override
    protected void lock(int me) {
        do {
            while (state == 1) { // race: TTASLock
                Thread.onSpinWait();
            }
        } while ((int) STATE.getAndSet(this, 1) == 1); // race: TTASLock
    }

    @Override
    protected void unlock(int me) {
        STATE.setVolatile(this, 0); // race: TTASLock
    }

    public static void main(String[] args) throws InterruptedException {
        new TTASLock().count();
    }
}
