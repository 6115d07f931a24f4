import java.util.concurrent.atomic.AtomicReferenceArray;

/** One thread waits for a compare-and-set of the other, the first of its kind in the JVM. */
public final class FirstCas {
    public static void main(String[] args) throws InterruptedException {
        AtomicReferenceArray<String> slot = new AtomicReferenceArray<>(1);
        Thread thread = new Thread(() -> {
            while (slot.get(0) == null) Thread.onSpinWait();
        });
        thread.start();
        slot.compareAndSet(0, null, "there");
        thread.join();
    }
}
