package shop;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

/** Two tests with threads, of which one has a race; one that is not run; and a method that is no test. */
class TillTest {
    private int total;

    @Test
    void races() throws InterruptedException {
        both(() -> total++);
    }

    @Test
    void locks() throws InterruptedException {
        both(this::add);
    }

    @Test
    @Disabled
    void never() {
        throw new AssertionError();
    }

    private synchronized void add() {
        total++;
    }

    private void both(Runnable work) throws InterruptedException {
        Thread other = new Thread(work, "other");
        other.start();
        work.run();
        other.join();
    }
}
