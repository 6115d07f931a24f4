package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShopTest {
    @Test
    void cacheIsFilledLazily() throws Exception {
        Cache cache = new Cache();
        Threads.both(() -> cache.price("tea"), () -> cache.price("coffee"));
        assertEquals(3, cache.price("tea"));
    }

    @Test
    void counterCounts() throws Exception {
        Counter counter = new Counter();
        Threads.both(() -> counter.add(1), () -> counter.add(2));
        assertTrue(counter.get() > 0);
    }

    @Test
    void executorCounts() throws Exception {
        Counter counter = new Counter();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch started = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            pool.submit(() -> {
                started.countDown();
                started.await();
                counter.add(1);
                return null;
            });
        }
        pool.shutdown();
        assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS));
        assertTrue(counter.get() > 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void addsAmounts(int amount) throws Exception {
        Counter counter = new Counter();
        Threads.both(() -> counter.add(amount), () -> counter.add(amount));
        assertTrue(counter.get() > 0);
    }

    @Test
    void safeCounterCounts() throws Exception {
        SafeCounter counter = new SafeCounter();
        Threads.both(() -> counter.add(1), () -> counter.add(2));
        assertEquals(3, counter.get());
    }

    @Test
    void moneyMoves() throws Exception {
        Account a = new Account();
        Account b = new Account();
        Account.transfer(a, b, 1);
        // The first is long done when the second begins, unless a scheduler wants it otherwise.
        Threads.both(() -> Account.transfer(a, b, 10), () -> Account.transfer(b, a, afterLongThought()));
        assertEquals(200, a.balance() + b.balance());
    }

    private static int afterLongThought() {
        return 10 * BigInteger.valueOf(7).pow(60_000).signum();
    }
}
