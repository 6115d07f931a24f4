package shop;

/** Two clerks count without a lock. Tests also compile it into packages that look like the JDK's. */
public final class Till {
    static int total;
    int count;

    public static void main(String[] args) throws InterruptedException {
        Till till = new Till();
        Thread first = new Thread(till::sell);
        Thread second = new Thread(till::sell);
        first.start();
        second.start();
        first.join();
        second.join();
    }

    void sell() {
        for (int i = 0; i < 10; i++) {
            count++;
            total++;
        }
    }
}
