package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.photofinish.junit5.AllowRaces;
import org.photofinish.junit5.Schedules;

/** What {@code @Schedules} has to know besides the plain test: names end with what must come of them. */
class SchedulesTest extends Prepared {
    int prepared;

    @BeforeEach
    @Override
    void prepare() {
        prepared++;
    }

    @Test
    @Schedules(2)
    void overriddenPreparationPasses() {
        assertEquals(1, prepared);
    }

    @Test
    @Schedules(4)
    @AllowRaces("shop.Counter.*")
    void allowedRacePasses() throws Exception {
        race();
    }

    @Test
    @Schedules(4)
    @AllowRaces("shop.Cache.*")
    void otherRaceFails() throws Exception {
        race();
    }

    @TestFactory
    @Schedules(2)
    Stream<DynamicTest> factoryFails() {
        return Stream.of(DynamicTest.dynamicTest("race", SchedulesTest::race));
    }

    @Test
    @Schedules(4)
    @AllowRaces
    void neitherSeesTheOtherPasses() throws Exception {
        neitherSeesTheOther();
    }

    @Test
    @Schedules(value = 4, memory = "weak")
    @AllowRaces
    void neitherSeesTheOtherFails() throws Exception {
        neitherSeesTheOther();
    }

    @Test
    @Schedules(value = 4, memory = "weak")
    @AllowRaces
    void olderCountPasses() throws Exception {
        race();
    }

    @Test
    @Schedules(value = 4, memory = "week")
    void unknownMemoryFails() {}

    int x;
    int y;
    int seenByFirst;
    int seenBySecond;

    /** In every interleaving one of the two sees the other's write. */
    private void neitherSeesTheOther() throws InterruptedException {
        Threads.both(
                () -> {
                    x = 1;
                    seenByFirst = y;
                },
                () -> {
                    y = 1;
                    seenBySecond = x;
                });
        assertEquals(1, Math.max(seenByFirst, seenBySecond));
    }

    static void race() throws InterruptedException {
        Counter counter = new Counter();
        Threads.both(() -> counter.add(1), () -> counter.add(2));
    }
}

class Prepared {
    @BeforeEach
    void prepare() {
        throw new AssertionError("JUnit does not call what is overridden");
    }
}

@AllowRaces
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WholeTest {
    private Counter counter;

    @BeforeAll
    void once() {
        counter = new Counter();
    }

    @Test
    @Schedules(2)
    void raceAllowedByItsClassPasses() throws Exception {
        Threads.both(() -> counter.add(1), () -> counter.add(2));
    }
}
