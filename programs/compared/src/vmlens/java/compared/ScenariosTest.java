package compared;

import com.vmlens.api.AllInterleavings;
import org.junit.jupiter.api.Test;

class ScenariosTest {
    @Test
    void counter() throws Exception {
        try (AllInterleavings all = new AllInterleavings("counter")) {
            while (all.hasNext()) {
                Scenarios.counter();
            }
        }
    }

    @Test
    void cache() throws Exception {
        try (AllInterleavings all = new AllInterleavings("cache")) {
            while (all.hasNext()) {
                Scenarios.cache();
            }
        }
    }

    @Test
    void stopFlag() throws Exception {
        try (AllInterleavings all = new AllInterleavings("stopFlag")) {
            while (all.hasNext()) {
                Scenarios.stopFlag();
            }
        }
    }

    @Test
    void letterbox() throws Exception {
        try (AllInterleavings all = new AllInterleavings("letterbox")) {
            while (all.hasNext()) {
                Scenarios.letterbox();
            }
        }
    }

    @Test
    void line() throws Exception {
        try (AllInterleavings all = new AllInterleavings("line")) {
            while (all.hasNext()) {
                Scenarios.line();
            }
        }
    }

    @Test
    void lockedCounter() throws Exception {
        try (AllInterleavings all = new AllInterleavings("lockedCounter")) {
            while (all.hasNext()) {
                Scenarios.lockedCounter();
            }
        }
    }
}
