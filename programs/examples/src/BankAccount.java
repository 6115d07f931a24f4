/**
 * A bank account with two tellers. Deposits hold the account's lock; the
 * yearly interest run forgets to, so it can overwrite a deposit.
 *
 * <p>The program prints the right balance in every run: this year the rate is
 * nothing, so there is nothing to add.
 */
public final class BankAccount {
    private final String owner;
    private long cents;

    BankAccount(String owner, long cents) {
        this.owner = owner;
        this.cents = cents;
    }

    synchronized void deposit(long amount) {
        cents += amount; // race: BankAccount
    }

    /** Adds interest in thousandths. The bug: "synchronized" is missing here. */
    void addInterest(int perMille) {
        long interest = cents * perMille / 1000; // race: BankAccount
        if (interest > 0) {
            cents += interest; // race: BankAccount
        }
    }

    synchronized long balance() {
        return cents;
    }

    /** Customers come one at a time, a few milliseconds apart. */
    private static void nextCustomer() {
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BankAccount account = new BankAccount("Ada", 0);

        Thread counter = new Thread(() -> {
            for (int i = 0; i < 10; i++) {
                account.deposit(10_00);
                nextCustomer();
            }
        }, "counter");
        // Nothing is written, but the balance is read without the lock all the same.
        Thread interest = new Thread(() -> account.addInterest(0), "interest");

        counter.start();
        interest.start();
        counter.join();
        interest.join();

        long cents = account.balance();
        System.out.println(account.owner + " has " + cents / 100 + ".00");
    }
}
