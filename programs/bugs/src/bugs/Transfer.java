package bugs;

/** Two transfers in opposite directions take the two accounts in opposite orders. */
public final class Transfer {
    private int balance = 10;

    public static void main(String[] args) {
        Transfer a = new Transfer();
        Transfer b = new Transfer();
        Bugs.together(() -> move(a, b, 3), () -> move(b, a, 4));
        Bugs.check(a.balance + b.balance == 20, "money made");
    }

    private static void move(Transfer from, Transfer to, int amount) {
        synchronized (from) {
            synchronized (to) {
                from.balance -= amount;
                to.balance += amount;
            }
        }
    }
}
