/** Waits for a thread of the JDK that nobody controls: the one that runs finalizers. */
public final class Finalizes {
    static int count;

    static synchronized void increment() {
        count++;
    }

    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(Finalizes::increment);
        other.start();
        System.runFinalization();
        increment();
        other.join();
        System.out.println(count);
    }
}
