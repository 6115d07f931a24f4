package compared;

import org.junit.jupiter.api.extension.ExtendWith;
import org.pastalab.fray.junit.junit5.FrayTestExtension;
import org.pastalab.fray.junit.junit5.annotations.FrayTest;

@ExtendWith(FrayTestExtension.class)
class ScenariosTest {
    @FrayTest(iterations = 1000)
    void counter() throws Exception {
        Scenarios.counter();
    }

    @FrayTest(iterations = 1000)
    void cache() throws Exception {
        Scenarios.cache();
    }

    @FrayTest(iterations = 1000)
    void stopFlag() throws Exception {
        Scenarios.stopFlag();
    }

    @FrayTest(iterations = 1000)
    void letterbox() throws Exception {
        Scenarios.letterbox();
    }

    @FrayTest(iterations = 1000)
    void line() throws Exception {
        Scenarios.line();
    }

    @FrayTest(iterations = 1000)
    void lockedCounter() throws Exception {
        Scenarios.lockedCounter();
    }
}
