import java.util.concurrent.CountDownLatch
import scala.concurrent.{Await, Future, Promise}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt

/** Futures, promises, lazy values and volatile fields: `Futures racy` and `Futures ordered`. */
final class Shared {
  var handed = 0
  var counted = 0
  var racy = 0
  @volatile var ready = false
  lazy val late: Array[Int] = Array(42)
}

object Futures {
  private def ordered(shared: Shared): Unit = {
    val promise = Promise[Shared]()
    val reader = promise.future.map(s => require(s.handed == 42))
    val writer = Future {
      shared.handed = 42
      promise.success(shared)
    }
    val counts = (1 to 4).map(_ => Future((1 to 20).foreach(_ => shared.synchronized(shared.counted += 1))))
    val late = (1 to 2).map(_ => Future(require(shared.late(0) == 42)))
    Await.result(Future.sequence(Seq(reader, writer) ++ counts ++ late), 60.seconds)
    require(shared.counted == 80)
  }

  private def racy(shared: Shared): Unit = {
    val both = new CountDownLatch(2)
    val counts = (1 to 2).map { _ =>
      Future {
        both.countDown()
        both.await()
        shared.racy += 1 // race: scala
      }
    }
    Await.result(Future.sequence(counts), 60.seconds)
  }

  def main(args: Array[String]): Unit = {
    for (_ <- 1 to 2) if (args(0) == "racy") racy(new Shared) else ordered(new Shared)
    println("done")
  }
}
