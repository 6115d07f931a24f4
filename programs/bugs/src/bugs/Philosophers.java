package bugs;

import java.util.concurrent.locks.ReentrantLock;

/** Each takes the fork on the left, then the one on the right. The argument says how many. */
public final class Philosophers {
    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        ReentrantLock[] forks = new ReentrantLock[count];
        Runnable[] all = new Runnable[count];
        for (int i = 0; i < count; i++) {
            int left = i;
            forks[i] = new ReentrantLock();
            all[i] = () -> eat(forks[left], forks[(left + 1) % count]);
        }
        Bugs.together(all);
    }

    private static void eat(ReentrantLock left, ReentrantLock right) {
        left.lock();
        right.lock();
        right.unlock();
        left.unlock();
    }
}
