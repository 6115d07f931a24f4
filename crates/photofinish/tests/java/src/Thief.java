/** An exception whose cause is another field than the one that is raced for, and a third thread. */
public class Thief {
    static Object cargo = new Object();
    static boolean checked;

    static void check() {
        if (cargo != null) checked = true;
    }

    static void steal() {
        if (checked) cargo = null;
    }

    static void buy() {
        if (checked) System.out.println(cargo.hashCode() != 0);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = {
            new Thread(Thief::check, "checker"), new Thread(Thief::steal, "thief"), new Thread(Thief::buy, "buyer"),
        };
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
