package predict;

/**
 * Accounts whose operations are synchronized, and a deposit that looks and then
 * sets: `Banking broken`; `Banking repaired` does both under the lock.
 */
public final class Banking {
    static final class Account {
        private int balance = 100;

        synchronized int balance() {
            return balance;
        }

        synchronized void set(int to) {
            balance = to;
        }

        void deposit(int amount) {
            int before = balance();
            set(before + amount);
        }

        synchronized void depositTogether(int amount) {
            int before = balance();
            set(before + amount);
        }
    }

    private Banking() {}

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        boolean repaired = args[0].equals("repaired");
        Thread clerk = new Thread(() -> give(account, repaired), "clerk");
        Thread machine = new Thread(() -> {
            sleep();
            give(account, repaired);
        }, "machine");
        clerk.start();
        machine.start();
        clerk.join();
        machine.join();
    }

    private static void give(Account account, boolean repaired) {
        if (repaired) {
            account.depositTogether(30);
        } else {
            account.deposit(30);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(600);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
