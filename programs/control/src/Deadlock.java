/** Two locks, taken in opposite orders by two threads that usually do not meet. */
public final class Deadlock {
    static final class Account {
        final String name;
        int money;

        Account(String name, int money) {
            this.name = name;
            this.money = money;
        }
    }

    private Deadlock() {}

    static void transfer(Account from, Account to, int amount) {
        synchronized (from) {
            synchronized (to) {
                from.money -= amount;
                to.money += amount;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account a = new Account("a", 100);
        Account b = new Account("b", 100);
        Thread there = new Thread(() -> transfer(a, b, 30), "there");
        Thread back = new Thread(() -> transfer(b, a, 10), "back");
        there.start();
        back.start();
        there.join();
        back.join();
        System.out.println(a.money + " " + b.money);
    }
}
