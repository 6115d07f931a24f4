package bugs;

/** The balance is read in one critical section and written in another. */
public final class Deposit {
    private int balance;

    public static void main(String[] args) {
        Deposit account = new Deposit();
        Bugs.together(() -> account.add(5), () -> account.add(17));
        Bugs.check(account.get() == 22, "balance " + account.get());
    }

    private void add(int amount) {
        int old = get();
        set(old + amount);
    }

    private synchronized int get() {
        return balance;
    }

    private synchronized void set(int amount) {
        balance = amount;
    }
}
