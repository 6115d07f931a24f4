/*
 * Coroutines: `CoroutinesKt racy` and `CoroutinesKt ordered`. What a coroutine does before and after it was
 * suspended is in order, on whatever thread; two coroutines are ordered by what they say to each other, and not by
 * the thread that runs one after the other.
 */
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.yield

class Shared {
    @JvmField var handed = 0

    @JvmField var counted = 0

    @JvmField var suspended = 0

    @JvmField var racy = 0
}

/** Through a channel, a mutex, and the end of a scope. */
suspend fun ordered(shared: Shared) {
    val channel = Channel<Shared>()
    val mutex = Mutex()
    coroutineScope {
        launch(Dispatchers.Default) {
            shared.handed = 42
            channel.send(shared)
        }
        launch(Dispatchers.Default) { check(channel.receive().handed == 42) }
        repeat(4) {
            launch(Dispatchers.Default) {
                repeat(20) { mutex.withLock { shared.counted++ } }
            }
        }
        launch(Dispatchers.Default) {
            repeat(20) {
                shared.suspended++
                yield()
            }
        }
    }
    check(shared.counted == 80 && shared.suspended == 20)
}

/** Two coroutines at once, which nothing orders. */
suspend fun racy(shared: Shared) {
    coroutineScope {
        val both = CountDownLatch(2)
        repeat(2) {
            launch(Dispatchers.Default) {
                both.countDown()
                both.await()
                shared.racy++ // race: kotlin
            }
        }
    }
}

fun main(args: Array<String>) {
    runBlocking {
        repeat(2) {
            if (args[0] == "racy") racy(Shared()) else ordered(Shared())
        }
    }
    println("done")
}
