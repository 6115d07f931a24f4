/** A stop flag in a loop that HotSpot compiles: run as it is, without the tool, it never ends. */
public class Heater {
    private boolean on = true;
    private int heat;

    void run() {
        while (on) heat++;
    }

    public static void main(String[] args) throws InterruptedException {
        Heater heater = new Heater();
        Thread loop = new Thread(heater::run, "loop");
        loop.start();
        Thread.sleep(500);
        heater.on = false;
        loop.join();
    }
}
