package compared;

import org.junit.jupiter.api.Test;

class ScenariosTest {
    @Test
    void counter() throws Exception {
        Scenarios.counter();
    }

    @Test
    void cache() throws Exception {
        Scenarios.cache();
    }

    @Test
    void stopFlag() throws Exception {
        Scenarios.stopFlag();
    }

    @Test
    void letterbox() throws Exception {
        Scenarios.letterbox();
    }

    @Test
    void line() throws Exception {
        Scenarios.line();
    }

    @Test
    void lockedCounter() throws Exception {
        Scenarios.lockedCounter();
    }
}
