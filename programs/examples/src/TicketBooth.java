/**
 * Two booths sell from one stock of tickets, as it should be done: whoever
 * looks at the stock holds its lock, and the total is read when both are done.
 * There is no race to find here.
 */
public final class TicketBooth {
    private final Object stock = new Object();
    private int left = 20;
    private int sold;

    private boolean sell() {
        synchronized (stock) {
            if (left == 0) {
                return false;
            }
            left--;
            sold++;
            return true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TicketBooth booth = new TicketBooth();
        Runnable selling = () -> {
            while (booth.sell()) {
                Thread.yield();
            }
        };
        Thread north = new Thread(selling, "north");
        Thread south = new Thread(selling, "south");
        north.start();
        south.start();
        north.join();
        south.join();
        System.out.println(booth.sold + " tickets sold");
    }
}
