import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Volatile and atomic accesses, as in {@link Litmus}. */
public final class Accesses {
    static volatile int shared;
    static volatile int other;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    final AtomicInteger atomic = new AtomicInteger();
    final AtomicInteger second = new AtomicInteger();
    final AtomicIntegerArray array = new AtomicIntegerArray(2);
    final int[] elements = new int[2];
    volatile int v;
    volatile int w;

    void run(String what) throws InterruptedException {
        switch (what) {
            case "loadbuffer" -> {
                int[] seen = new int[2];
                Litmus.together(
                        () -> {
                            seen[0] = v;
                            w = 1;
                        },
                        () -> {
                            seen[1] = w;
                            v = 1;
                        });
                if (seen[0] + seen[1] == 2) throw new AssertionError("no order has this");
            }
            case "statics" -> Litmus.together(
                    () -> {
                        shared = 1;
                        Litmus.consume(other);
                    },
                    () -> {
                        other = 1;
                        Litmus.consume(shared);
                    });
            case "causality" -> Litmus.together(
                    () -> v = 1,
                    () -> {
                        Litmus.consume(v);
                        w = 1;
                    },
                    () -> {
                        Litmus.consume(w);
                        Litmus.consume(v);
                    });
            case "iriw" -> Litmus.together(
                    () -> v = 1,
                    () -> w = 1,
                    () -> {
                        Litmus.consume(v);
                        Litmus.consume(w);
                    },
                    () -> {
                        Litmus.consume(w);
                        Litmus.consume(v);
                    });
            case "between" -> Litmus.together(
                    () -> {
                        Litmus.consume(v);
                        Litmus.consume(v);
                    },
                    () -> v = 1);
            case "writers2" -> {
                Runnable both = () -> {
                    v = 1;
                    v = 2;
                };
                Litmus.together(both, both);
            }
            case "writers3" -> Litmus.together(() -> v = 1, () -> v = 2, () -> v = 3);
            case "branch" -> Litmus.together(
                    () -> {
                        if (v == 1) {
                            w = 1;
                        } else {
                            w = 2;
                            w = 3;
                        }
                    },
                    () -> {
                        v = 1;
                        Litmus.consume(w);
                    });
            case "add2" -> Litmus.together(atomic::incrementAndGet, atomic::incrementAndGet);
            case "add3" -> {
                Litmus.together(
                        atomic::incrementAndGet, atomic::incrementAndGet, atomic::incrementAndGet);
                if (atomic.get() != 3) throw new AssertionError("an addition was lost");
            }
            case "addread" -> Litmus.together(
                    () -> {
                        atomic.getAndIncrement();
                        Litmus.consume(second.get());
                    },
                    () -> {
                        second.getAndIncrement();
                        Litmus.consume(atomic.get());
                    });
            case "retry" -> {
                Runnable add = () -> {
                    int old;
                    do {
                        old = atomic.get();
                    } while (!atomic.compareAndSet(old, old + 1));
                };
                Litmus.together(add, add);
                if (atomic.get() != 2) throw new AssertionError("an addition was lost");
            }
            case "once" -> {
                Runnable first = () -> {
                    if (atomic.compareAndSet(0, 1)) v = 1;
                    else Litmus.consume(v);
                };
                Litmus.together(first, first);
            }
            case "elements" -> Litmus.together(() -> array.set(0, 1), () -> array.set(1, 1));
            case "element" -> Litmus.together(() -> array.set(1, 1), () -> array.set(1, 2));
            case "handles" -> Litmus.together(
                    () -> {
                        ELEMENT.setVolatile(elements, 0, 1);
                        Litmus.consume((int) ELEMENT.getVolatile(elements, 1));
                    },
                    () -> {
                        ELEMENT.setRelease(elements, 1, 1);
                        Litmus.consume((int) ELEMENT.getAcquire(elements, 0));
                    });
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new Accesses().run(args[0]);
    }
}
