package bench;

/** Transfers between accounts, each guarded by its monitor; two are held at a time. */
public final class BankMonitors {
    private static final int ACCOUNTS = 1_000;

    private static final class Account {
        private final int number;
        private long balance = 1_000;
        private int moves;

        Account(int number) {
            this.number = number;
        }

        synchronized void add(long amount) {
            balance += amount;
            moves++;
        }
    }

    private BankMonitors() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 80_000_000);
        Account[] accounts = new Account[ACCOUNTS];
        for (int i = 0; i < ACCOUNTS; i++) {
            accounts[i] = new Account(i);
        }
        team.run(me -> {
            for (int i = team.from(me, team.size); i < team.from(me + 1, team.size); i++) {
                long random = Team.next(Team.next(i + 1L));
                Account from = accounts[(int) (random >>> 8 & 0xFFFF) % ACCOUNTS];
                Account to = accounts[(int) (random >>> 24 & 0xFFFF) % ACCOUNTS];
                transfer(from, to, random & 15);
            }
        });
        long total = 0;
        long moves = 0;
        for (Account account : accounts) {
            total = total * 7 + account.balance;
            moves += account.moves;
        }
        System.out.println(total + moves);
    }

    private static void transfer(Account from, Account to, long amount) {
        Account first = from.number < to.number ? from : to;
        Account second = first == from ? to : from;
        synchronized (first) {
            synchronized (second) {
                from.add(-amount);
                to.add(amount);
            }
        }
    }
}
