/**
 * Two threads that take two locks in opposite order, far apart in time: a deadlock that only shows
 * when an order of the locks is turned round.
 */
public final class Crossed {
    static final class Accounts {}

    static final class Audit {}

    static final Accounts accounts = new Accounts();
    static final Audit audit = new Audit();
    static int both;

    private Crossed() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void transfer() {
        synchronized (accounts) {
            pause(140); // meanwhile the other has begun
            note();
        }
    }

    static void note() {
        synchronized (audit) {
            both++;
        }
    }

    static void review() {
        pause(200);
        synchronized (audit) {
            sum();
        }
    }

    static void sum() {
        pause(5);
        synchronized (accounts) {
            both++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread transfer = new Thread(Crossed::transfer, "transfer");
        Thread review = new Thread(Crossed::review, "review");
        transfer.start();
        pause(60);
        review.start();
        transfer.join();
        review.join();
        System.out.println("both " + both);
    }
}
