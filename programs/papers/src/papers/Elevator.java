package papers;

import java.util.ArrayDeque;
import java.util.Deque;

/** Lifts that serve calls from a shared board, always under its lock. Stands for elevator (jPredictor): no race. */
public final class Elevator implements Runnable {
    private final Deque<Integer> calls = new ArrayDeque<>();
    private int served;

    @Override
    public void run() {
        for (Integer floor = next(); floor != null; floor = next()) {
            serve(floor);
        }
    }

    private synchronized Integer next() {
        return calls.poll();
    }

    private synchronized void serve(int floor) {
        served += floor;
    }

    public static void main(String[] args) throws InterruptedException {
        Elevator board = new Elevator();
        for (int floor = 1; floor <= 6; floor++) {
            board.calls.add(floor);
        }
        Thread[] lifts = {new Thread(board, "lift 1"), new Thread(board, "lift 2")};
        for (Thread lift : lifts) {
            lift.start();
        }
        for (Thread lift : lifts) {
            lift.join();
        }
        System.out.println("served " + board.served);
    }
}
