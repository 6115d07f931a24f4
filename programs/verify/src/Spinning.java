import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Loops that wait, and what is made of them, as in {@link Litmus}. */
public final class Spinning {
    static volatile boolean shared;
    static boolean plainShared;

    private static final VarHandle OPEN;

    static {
        try {
            OPEN = MethodHandles.lookup().findVarHandle(Spinning.class, "open", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final AtomicBoolean atomic = new AtomicBoolean();
    final AtomicInteger arrived = new AtomicInteger();
    final AtomicInteger next = new AtomicInteger();
    final AtomicIntegerArray cells = new AtomicIntegerArray(2);
    volatile int serving;
    volatile int ping;
    volatile int pong;
    volatile boolean flag0;
    volatile boolean flag1;
    volatile int victim;
    boolean open;
    int plain;

    /** Whoever comes last opens. */
    private void barrier(int parties) {
        if (arrived.getAndIncrement() == parties - 1) {
            ping = 1;
        } else {
            while (ping == 0) Thread.onSpinWait();
        }
    }

    private boolean isAnySet() {
        for (int i = 0; i < 2; i++) {
            if (isSet(i)) return true;
        }
        return false;
    }

    private boolean isSet(int i) {
        return cells.get(i) != 0;
    }

    private void ticket() {
        int mine = next.getAndIncrement();
        while (serving != mine) Thread.onSpinWait();
        plain++;
        serving = mine + 1;
    }

    void run(String what) throws InterruptedException {
        switch (what) {
            case "spinstatic" -> Litmus.together(
                    () -> {
                        while (!shared) Thread.onSpinWait();
                    },
                    () -> shared = true);
            case "spinplainstatic" -> Litmus.together(
                    () -> {
                        while (!plainShared) Thread.onSpinWait(); // race: spinplainstatic
                    },
                    () -> plainShared = true); // race: spinplainstatic
            case "spinanswer" -> Litmus.together(
                    () -> {
                        while (ping == 0) Thread.onSpinWait();
                        plainShared = true; // race: spinanswer
                    },
                    () -> {
                        ping = 1;
                        while (!plainShared) Thread.onSpinWait(); // race: spinanswer
                    });
            case "spinatomic" -> Litmus.together(
                    () -> {
                        while (!atomic.get()) Thread.onSpinWait();
                        Litmus.consume(plain);
                    },
                    () -> {
                        plain = 1;
                        atomic.set(true);
                    });
            case "spinhandle" -> Litmus.together(
                    () -> {
                        while (!(boolean) OPEN.getAcquire(this)) Thread.onSpinWait();
                        Litmus.consume(plain);
                    },
                    () -> {
                        plain = 1;
                        OPEN.setRelease(this, true);
                    });
            case "spinmethod" -> Litmus.together(
                    () -> {
                        while (!isAnySet()) Thread.onSpinWait();
                    },
                    () -> cells.set(1, 1));
            case "spinbetween" -> Litmus.together(
                    () -> {
                        while (ping != 2) Thread.onSpinWait();
                    },
                    () -> {
                        ping = 1;
                        ping = 2;
                    });
            case "spintwo" -> {
                Runnable waits = () -> {
                    while (ping == 0) Thread.onSpinWait();
                };
                Litmus.together(waits, waits, () -> ping = 1);
            }
            case "pingpong" -> Litmus.together(
                    () -> {
                        ping = 1;
                        while (pong == 0) Thread.onSpinWait();
                    },
                    () -> {
                        while (ping == 0) Thread.onSpinWait();
                        pong = 1;
                    });
            case "spinnobody" -> Litmus.together(
                    () -> {
                        while (ping == 0) Thread.onSpinWait();
                    },
                    () -> pong = 1);
            case "barrier2" -> Litmus.together(() -> barrier(2), () -> barrier(2));
            case "barrier3" -> Litmus.together(() -> barrier(3), () -> barrier(3), () -> barrier(3));
            case "ticket" -> Litmus.together(this::ticket, this::ticket);
            case "peterson" -> Litmus.together(
                    () -> {
                        flag0 = true;
                        victim = 0;
                        while (flag1 && victim == 0) Thread.onSpinWait();
                        plain++;
                        flag0 = false;
                    },
                    () -> {
                        flag1 = true;
                        victim = 1;
                        while (flag0 && victim == 1) Thread.onSpinWait();
                        plain++;
                        flag1 = false;
                    });
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Spinning().run(args[0]);
    }
}
