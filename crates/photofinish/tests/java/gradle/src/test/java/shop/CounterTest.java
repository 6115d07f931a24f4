package shop;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class CounterTest {
    @Test
    public void counts() throws InterruptedException {
        Counter counter = new Counter();
        Thread one = new Thread(counter::add);
        Thread two = new Thread(counter::add);
        one.start();
        two.start();
        one.join();
        two.join();
        assertTrue(counter.count() > 0);
    }
}
