/** A worker that goes on until it is told to stop, by a field that is not volatile. */
public class StopFlag {
    private boolean stop;
    private long rounds;

    void work() {
        while (!stop) rounds++;
    }

    public static void main(String[] args) throws InterruptedException {
        StopFlag flag = new StopFlag();
        Thread worker = new Thread(flag::work, "worker");
        worker.start();
        flag.stop = true;
        worker.join();
        System.out.println("stopped");
    }
}
