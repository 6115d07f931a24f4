package shop;

public class Account {
    private int balance = 100;

    public static void transfer(Account from, Account to, int amount) {
        synchronized (from) {
            synchronized (to) {
                from.balance -= amount;
                to.balance += amount;
            }
        }
    }

    public synchronized int balance() {
        return balance;
    }
}
