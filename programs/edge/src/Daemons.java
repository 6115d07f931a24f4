/** The program ends while daemon threads are still running, some of them in the thick of it. */
public final class Daemons {
    static final class Spinner extends Thread {
        private int turns;
        private final int[] cells = new int[64];

        Spinner() {
            setDaemon(true);
        }

        @Override
        public void run() {
            while (true) {
                turns++;
                cells[turns & 63] = turns;
                synchronized (this) {
                    cells[0]++;
                }
            }
        }
    }

    private Daemons() {}

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            new Spinner().start();
        }
        Object never = new Object();
        Thread waiter = new Thread(() -> {
            synchronized (never) {
                try {
                    never.wait();
                } catch (InterruptedException e) {
                    System.out.println("interrupted");
                }
            }
        });
        waiter.setDaemon(true);
        waiter.start();
        Thread.sleep(50);
        System.out.println("main is done");
    }
}
