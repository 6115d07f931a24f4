import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Loops that wait for another thread without telling anybody: on a plain field, on an atomic. */
public final class Spins {
    static boolean plain;
    static volatile boolean announced;
    static final AtomicBoolean atomic = new AtomicBoolean();
    static final AtomicInteger ticket = new AtomicInteger();

    private Spins() {}

    static void onPlain() {
        while (!plain) {
        }
        System.out.println("plain");
    }

    static void onVolatile() {
        while (!announced) {
        }
        System.out.println("volatile");
    }

    static void onAtomic() {
        while (!atomic.get()) {
        }
        System.out.println("atomic");
    }

    static void onUpdate() {
        while (!ticket.compareAndSet(1, 2)) {
        }
        System.out.println("update");
    }

    static void onHint() {
        while (ticket.get() != 3) {
            Thread.onSpinWait();
        }
        System.out.println("hint");
    }

    static void onYield() {
        while (ticket.get() != 4) {
            Thread.yield();
        }
        System.out.println("yield");
    }

    static void spin(Runnable loop, Runnable release) throws InterruptedException {
        Thread spinner = new Thread(loop, "spinner");
        spinner.start();
        release.run();
        spinner.join();
    }

    public static void main(String[] args) throws InterruptedException {
        spin(Spins::onPlain, () -> plain = true);
        spin(Spins::onVolatile, () -> announced = true);
        spin(Spins::onAtomic, () -> atomic.set(true));
        spin(Spins::onUpdate, () -> ticket.set(1));
        spin(Spins::onHint, () -> ticket.set(3));
        spin(Spins::onYield, () -> ticket.set(4));
    }
}
