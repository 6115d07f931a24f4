package predict;

/**
 * Accounts whose operations are synchronized, and a withdrawal that looks and
 * then takes: `Banking broken`; `Banking repaired` does both under the lock.
 */
public final class Banking {
    static final class Account {
        private int balance = 100;

        synchronized int balance() {
            return balance;
        }

        synchronized void change(int by) {
            balance = balance + by;
        }

        void withdraw(int amount) {
            if (balance() >= amount) {
                change(-amount);
            }
        }

        synchronized void withdrawTogether(int amount) {
            if (balance() >= amount) {
                change(-amount);
            }
        }
    }

    private Banking() {}

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        boolean repaired = args[0].equals("repaired");
        Thread clerk = new Thread(() -> take(account, repaired), "clerk");
        Thread machine = new Thread(() -> {
            sleep();
            take(account, repaired);
        }, "machine");
        clerk.start();
        machine.start();
        clerk.join();
        machine.join();
    }

    private static void take(Account account, boolean repaired) {
        if (repaired) {
            account.withdrawTogether(30);
        } else {
            account.withdraw(30);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(150);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
