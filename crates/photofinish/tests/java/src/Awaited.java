/** One thread waits in a loop, for a second, for what another one writes. */
public class Awaited {
    private static volatile boolean isOpen;
    private static boolean isPlain;
    private static int data;

    private static void await(boolean onVolatile) {
        if (onVolatile) {
            while (!isOpen) Thread.onSpinWait();
        } else {
            while (!isPlain) Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        boolean onVolatile = args[0].equals("volatile");
        Thread waits = new Thread(() -> {
            await(onVolatile);
            data++;
        });
        waits.start();
        Thread.sleep(1000);
        data = 1;
        isPlain = true;
        isOpen = true;
        waits.join();
    }
}
