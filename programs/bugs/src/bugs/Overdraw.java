package bugs;

/** Each of two withdrawals is covered, both together are not: checked before, taken later. */
public final class Overdraw {
    private int balance = 10;

    public static void main(String[] args) {
        Overdraw account = new Overdraw();
        Bugs.together(() -> account.withdraw(7), () -> account.withdraw(8));
        Bugs.check(account.balance() >= 0, "overdrawn: " + account.balance());
    }

    private void withdraw(int amount) {
        if (balance() >= amount) {
            take(amount);
        }
    }

    private synchronized int balance() {
        return balance;
    }

    private synchronized void take(int amount) {
        balance -= amount;
    }
}
