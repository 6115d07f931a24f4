package compared;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** As Lincheck's guide has it: a class with the operations of each data structure. */
class ScenariosTest {
    public static class CounterOperations {
        private final Classes.Counter counter = new Classes.Counter();

        @Operation
        public void add() {
            counter.add();
        }

        @Operation
        public int get() {
            return counter.get();
        }
    }

    public static class CacheOperations {
        private final Classes.Cache cache = new Classes.Cache();

        @Operation
        public int one() {
            return cache.length("one");
        }

        @Operation
        public int three() {
            return cache.length("three");
        }
    }

    public static class StopFlagOperations {
        private final Classes.StopFlag flag = new Classes.StopFlag();

        @Operation
        public void stop() {
            flag.stop();
        }

        @Operation
        public boolean isStopped() {
            return flag.isStopped();
        }
    }

    public static class LetterboxOperations {
        private final Classes.Letterbox box = new Classes.Letterbox();

        @Operation
        public void put() {
            box.put(42);
        }

        @Operation
        public int take() {
            return box.take();
        }
    }

    public static class LineOperations {
        private final Classes.Line line = new Classes.Line();

        @Operation
        public void send() {
            line.send("hello");
        }

        @Operation
        public void hangUp() {
            line.hangUp();
        }
    }

    public static class LockedCounterOperations {
        private final Classes.LockedCounter counter = new Classes.LockedCounter();

        @Operation
        public void add() {
            counter.add();
        }

        @Operation
        public int get() {
            return counter.get();
        }
    }

    private static void check(Class<?> operations) {
        new ModelCheckingOptions()
                .iterations(10)
                .invocationsPerIteration(1000)
                .actorsBefore(0)
                .check(operations);
    }

    @Test
    void counter() {
        check(CounterOperations.class);
    }

    @Test
    void cache() {
        check(CacheOperations.class);
    }

    @Test
    void stopFlag() {
        check(StopFlagOperations.class);
    }

    @Test
    void letterbox() {
        check(LetterboxOperations.class);
    }

    @Test
    void line() {
        check(LineOperations.class);
    }

    @Test
    void lockedCounter() {
        check(LockedCounterOperations.class);
    }
}
