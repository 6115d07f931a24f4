package shop;

public class Account {
    private static final Object MOVING = new Object();

    private int balance = 100;

    public static void transfer(Account from, Account to, int amount) {
        synchronized (MOVING) {
            from.balance -= amount;
            to.balance += amount;
        }
    }

    public int balance() {
        synchronized (MOVING) {
            return balance;
        }
    }
}
