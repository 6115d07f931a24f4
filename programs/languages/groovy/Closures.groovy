import java.util.concurrent.BlockingQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue

/* Threads made of closures: `Closures.groovy racy` and `Closures.groovy ordered`. */
class Shared {
    public int handed
    public int counted
    public int racy
}

def ordered(Shared shared) {
    BlockingQueue<Shared> queue = new LinkedBlockingQueue<>()
    def reader = Thread.start { assert queue.take().handed == 42 }
    def writer = Thread.start {
        shared.handed = 42
        queue.put(shared)
    }
    def counts = (1..2).collect {
        Thread.start {
            20.times { synchronized (shared) { shared.counted++ } }
        }
    }
    ([reader, writer] + counts)*.join()
    assert shared.counted == 40
}

def racy(Shared shared) {
    def both = new CountDownLatch(2)
    def counts = (1..2).collect {
        Thread.start {
            both.countDown()
            both.await()
            shared.racy++ // race: groovy
        }
    }
    counts*.join()
}

2.times { args[0] == 'racy' ? racy(new Shared()) : ordered(new Shared()) }
println 'done'
