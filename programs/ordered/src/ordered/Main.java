package ordered;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs the sections named on the command line, or all of them, one after the
 * other. No section has a race: nothing may be reported for any of them.
 */
public final class Main {
    /**
     * Loading classes and linking lambdas takes locks inside the JDK, which order
     * threads by accident. After the first round all of that has happened, and what
     * is left is the order under test.
     */
    private static final int ROUNDS = 2;

    private static final Map<String, Maker> SECTIONS = sections();

    private interface Maker {
        Section make() throws Exception;
    }

    private Main() {}

    public static void main(String[] args) {
        // On two processors the common pool has one thread, and then the parallel
        // operations on arrays are not parallel.
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", "3");
        for (String name : args.length == 0 ? SECTIONS.keySet().toArray(new String[0]) : args) {
            Maker maker = SECTIONS.get(name);
            if (maker == null) {
                System.err.println("no section " + name);
                System.exit(2);
            }
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    maker.make().run();
                }
            } catch (Throwable e) {
                System.err.println("failed " + name);
                Worker.giveUp(e);
            }
            System.out.println("ok " + name);
        }
    }

    private static Map<String, Maker> sections() {
        Map<String, Maker> all = new LinkedHashMap<>();
        all.put("monitor-block", Monitors.Block::new);
        all.put("monitor-method", Monitors.Method::new);
        all.put("monitor-static-method", Monitors.StaticMethod::new);
        all.put("monitor-class-literal", Monitors.ClassLiteral::new);
        all.put("monitor-reentrant", Monitors.Reentrant::new);
        all.put("monitor-exceptional-exit", Monitors.ExceptionalExit::new);
        all.put("monitor-exceptional-method-exit", Monitors.ExceptionalMethodExit::new);
        all.put("monitor-suppressed", Monitors.Suppressed::new);
        all.put("monitor-cause", Monitors.Cause::new);
        all.put("monitor-wait-notify", Monitors.WaitNotify::new);
        all.put("monitor-wait-notify-all", Monitors.WaitNotifyAll::new);
        all.put("monitor-timed-wait", Monitors.TimedWait::new);
        all.put("monitor-timed-wait-nanos", Monitors.TimedWaitNanos::new);
        all.put("monitor-nested-wait", Monitors.NestedWait::new);
        all.put("monitor-expired-wait", Monitors.ExpiredWait::new);
        all.put("monitor-ping-pong", Monitors.PingPong::new);

        all.put("thread-start", Threads.Start::new);
        all.put("thread-start-chain", Threads.StartChain::new);
        all.put("thread-join", Threads.Join::new);
        all.put("thread-timed-join", Threads.TimedJoin::new);
        all.put("thread-timed-join-nanos", Threads.TimedJoinNanos::new);
        all.put("thread-is-alive", Threads.IsAlive::new);
        all.put("thread-get-state", Threads.GetState::new);
        all.put("thread-repeated-join", Threads.RepeatedJoin::new);
        all.put("thread-uncaught-handler", Threads.UncaughtHandler::new);
        all.put("thread-factory", Threads.Factory::new);
        all.put("thread-interrupt-sleep", Threads.InterruptSleep::new);
        all.put("thread-interrupt-wait", Threads.InterruptWait::new);
        all.put("thread-interrupt-join", Threads.InterruptJoin::new);
        all.put("thread-interrupt-polled", Threads.InterruptPolled::new);
        all.put("thread-interrupt-cleared", Threads.InterruptCleared::new);
        all.put("thread-interrupt-park", Threads.InterruptPark::new);
        all.put("thread-interrupt-take", Threads.InterruptTake::new);
        all.put("thread-interrupt-latch", Threads.InterruptLatch::new);
        all.put("thread-interrupt-condition", Threads.InterruptCondition::new);
        all.put("thread-interrupt-seen-by-other", Threads.InterruptSeenByOther::new);
        all.put("thread-local", Threads.Local::new);
        all.put("thread-inheritable-local", Threads.InheritableLocal::new);
        all.put("thread-park-unpark", Threads.ParkUnpark::new);

        all.put("volatile-boolean-flag", Volatiles.BooleanFlag::new);
        all.put("volatile-int-level", Volatiles.IntLevel::new);
        all.put("volatile-long-level", Volatiles.LongLevel::new);
        all.put("volatile-double-level", Volatiles.DoubleLevel::new);
        all.put("volatile-static-level", Volatiles.StaticLevel::new);
        all.put("volatile-reference", Volatiles.Reference::new);
        all.put("volatile-array-reference", Volatiles.ArrayReference::new);
        all.put("volatile-inherited", Volatiles.Inherited::new);
        all.put("volatile-reflected", Volatiles.Reflected::new);
        all.put("volatile-methodhandle", Volatiles.MethodHandled::new);
        all.put("volatile-double-checked-locking", Volatiles.DoubleCheckedLocking::new);
        all.put("volatile-piggyback", Volatiles.Piggyback::new);

        all.put("atomic-integer-set", Atomics.IntegerSet::new);
        all.put("atomic-integer-cas", Atomics.IntegerCas::new);
        all.put("atomic-integer-get-and-add", Atomics.IntegerGetAndAdd::new);
        all.put("atomic-integer-increment", Atomics.IntegerIncrement::new);
        all.put("atomic-integer-update", Atomics.IntegerUpdate::new);
        all.put("atomic-lazy-set", Atomics.LazySet::new);
        all.put("atomic-release-acquire", Atomics.ReleaseAcquire::new);
        all.put("atomic-weak-cas-volatile", Atomics.WeakCasVolatile::new);
        all.put("atomic-weak-cas-release", Atomics.WeakCasRelease::new);
        all.put("atomic-compare-and-exchange", Atomics.CompareAndExchange::new);
        all.put("atomic-compare-and-exchange-release", Atomics.CompareAndExchangeRelease::new);
        all.put("atomic-failed-cas", Atomics.FailedCas::new);
        all.put("atomic-long-get-and-set", Atomics.LongGetAndSet::new);
        all.put("atomic-boolean-cas", Atomics.BooleanCas::new);
        all.put("atomic-reference-cas", Atomics.ReferenceCas::new);
        all.put("atomic-reference-get-and-set", Atomics.ReferenceGetAndSet::new);
        all.put("atomic-integer-array", Atomics.IntegerArray::new);
        all.put("atomic-long-array", Atomics.LongArray::new);
        all.put("atomic-reference-array", Atomics.ReferenceArray::new);
        all.put("atomic-stamped", Atomics.Stamped::new);
        all.put("atomic-markable", Atomics.Markable::new);
        all.put("atomic-integer-updater", Atomics.IntegerUpdater::new);
        all.put("atomic-long-updater", Atomics.LongUpdater::new);
        all.put("atomic-reference-updater", Atomics.ReferenceUpdater::new);
        all.put("atomic-spin-lock", Atomics.SpinLock::new);
        all.put("atomic-adder", Atomics.Adder::new);
        all.put("atomic-contended", Atomics.Contended::new);
        all.put("atomic-array-collected", Atomics.ArrayCollected::new);

        all.put("handle-volatile-field", Handles.VolatileField::new);
        all.put("handle-declared-volatile", Handles.DeclaredVolatile::new);
        all.put("handle-acquire-release", Handles.AcquireRelease::new);
        all.put("handle-compare-and-set", Handles.CompareAndSet::new);
        all.put("handle-weak-compare-and-set", Handles.WeakCompareAndSet::new);
        all.put("handle-get-and-add", Handles.GetAndAdd::new);
        all.put("handle-get-and-add-release", Handles.GetAndAddRelease::new);
        all.put("handle-get-and-bitwise", Handles.GetAndBitwise::new);
        all.put("handle-exchange", Handles.Exchange::new);
        all.put("handle-static-field", Handles.StaticField::new);
        all.put("handle-reference-field", Handles.ReferenceField::new);
        all.put("handle-int-element", Handles.IntElement::new);
        all.put("handle-int-element-cas", Handles.IntElementCas::new);
        all.put("handle-reference-element", Handles.ReferenceElement::new);
        all.put("handle-release-fence", Handles.ReleaseFence::new);
        all.put("handle-full-fence", Handles.FullFence::new);
        all.put("handle-final-fields", Handles.FinalFields::new);
        all.put("handle-final-field-of-third", Handles.FinalFieldOfThird::new);
        all.put("handle-record-fields", Handles.RecordFields::new);

        all.put("lock-reentrant", Locks.Reentrant::new);
        all.put("lock-fair", Locks.Fair::new);
        all.put("lock-held-twice", Locks.HeldTwice::new);
        all.put("lock-try-lock", Locks.TryLock::new);
        all.put("lock-timed-try-lock", Locks.TimedTryLock::new);
        all.put("lock-interruptibly", Locks.Interruptibly::new);
        all.put("lock-await", Locks.Await::new);
        all.put("lock-await-nanos", Locks.AwaitNanos::new);
        all.put("lock-await-uninterruptibly", Locks.AwaitUninterruptibly::new);
        all.put("lock-await-expired", Locks.AwaitExpired::new);
        all.put("lock-writer-and-reader", Locks.WriterAndReader::new);
        all.put("lock-fair-writer-and-reader", Locks.FairWriterAndReader::new);
        all.put("lock-downgrade", Locks.Downgrade::new);
        all.put("lock-readers-then-writer", Locks.ReadersThenWriter::new);
        all.put("lock-stamped-write", Locks.StampedWrite::new);
        all.put("lock-stamped-read", Locks.StampedRead::new);
        all.put("lock-stamped-try", Locks.StampedTry::new);
        all.put("lock-stamped-convert", Locks.StampedConvert::new);
        all.put("lock-stamped-downgrade", Locks.StampedDowngrade::new);
        all.put("lock-stamped-views", Locks.StampedViews::new);
        all.put("lock-stamped-optimistic", Locks.StampedOptimistic::new);
        all.put("lock-stamped-and-monitor", Locks.StampedAndMonitor::new);
        all.put("lock-stamped-handed-over", Locks.StampedHandedOver::new);
        all.put("lock-custom", Locks.Custom::new);

        all.put("synchronizer-semaphore-mutex", Synchronizers.SemaphoreMutex::new);
        all.put("synchronizer-semaphore-fair-try", Synchronizers.SemaphoreFairTry::new);
        all.put("synchronizer-semaphore-signal", Synchronizers.SemaphoreSignal::new);
        all.put("synchronizer-latch", Synchronizers.Latch::new);
        all.put("synchronizer-latch-timed", Synchronizers.LatchTimed::new);
        all.put("synchronizer-latch-polled", Synchronizers.LatchPolled::new);
        all.put("synchronizer-barrier", Synchronizers.Barrier::new);
        all.put("synchronizer-barrier-action", Synchronizers.BarrierAction::new);
        all.put("synchronizer-phaser-meet", Synchronizers.PhaserMeet::new);
        all.put("synchronizer-phaser-arrive", Synchronizers.PhaserArrive::new);
        all.put("synchronizer-phaser-deregister", Synchronizers.PhaserDeregister::new);
        all.put("synchronizer-phaser-on-advance", Synchronizers.PhaserOnAdvance::new);
        all.put("synchronizer-exchange", Synchronizers.Exchange::new);
        all.put("synchronizer-exchange-timed", Synchronizers.ExchangeTimed::new);

        all.put("queue-array-blocking", Queues.ArrayBlocking::new);
        all.put("queue-linked-blocking", Queues.LinkedBlocking::new);
        all.put("queue-linked-blocking-bounded", Queues.LinkedBlockingBounded::new);
        all.put("queue-blocking-deque", Queues.BlockingDeque::new);
        all.put("queue-priority-blocking", Queues.PriorityBlocking::new);
        all.put("queue-delay", Queues.Delay::new);
        all.put("queue-synchronous", Queues.Synchronous::new);
        all.put("queue-synchronous-fair", Queues.SynchronousFair::new);
        all.put("queue-transfer", Queues.Transfer::new);
        all.put("queue-transfer-awaited", Queues.TransferAwaited::new);
        all.put("queue-timed", Queues.Timed::new);
        all.put("queue-drain", Queues.Drain::new);
        all.put("queue-linked", Queues.Linked::new);
        all.put("queue-linked-deque", Queues.LinkedDeque::new);

        all.put("shared-hash-put", Shared.HashPut::new);
        all.put("shared-hash-collisions", Shared.HashCollisions::new);
        all.put("shared-hash-iteration", Shared.HashIteration::new);
        all.put("shared-hash-compute-if-absent", Shared.HashComputeIfAbsent::new);
        all.put("shared-hash-merge", Shared.HashMerge::new);
        all.put("shared-hash-compute", Shared.HashCompute::new);
        all.put("shared-hash-key-set", Shared.HashKeySet::new);
        all.put("shared-skip-list-map", Shared.SkipListMap::new);
        all.put("shared-skip-list-ceiling", Shared.SkipListCeiling::new);
        all.put("shared-skip-list-iteration", Shared.SkipListIteration::new);
        all.put("shared-skip-list-set", Shared.SkipListSet::new);
        all.put("shared-copy-on-write-list", Shared.CopyOnWriteList::new);
        all.put("shared-copy-on-write-set", Shared.CopyOnWriteSet::new);
        all.put("shared-synchronized-list", Shared.SynchronizedList::new);
        all.put("shared-synchronized-map", Shared.SynchronizedMap::new);
        all.put("shared-synchronized-map-walk", Shared.SynchronizedMapWalk::new);
        all.put("shared-old-vector", Shared.OldVector::new);
        all.put("shared-old-hashtable", Shared.OldHashtable::new);
        all.put("shared-buffer", Shared.Buffer::new);

        all.put("pool-fixed", Pools.Fixed::new);
        all.put("pool-cached", Pools.Cached::new);
        all.put("pool-single", Pools.Single::new);
        all.put("pool-scheduling", Pools.Scheduling::new);
        all.put("pool-work-stealing", Pools.WorkStealing::new);
        all.put("pool-invoke-all", Pools.InvokeAll::new);
        all.put("pool-invoke-any", Pools.InvokeAny::new);
        all.put("pool-completion-service", Pools.CompletionService::new);
        all.put("pool-await-termination", Pools.AwaitTermination::new);
        all.put("pool-worker-replaced", Pools.WorkerReplaced::new);
        all.put("pool-delayed", Pools.Delayed::new);
        all.put("pool-fixed-rate", Pools.FixedRate::new);
        all.put("pool-task", Pools.Task::new);
        all.put("pool-task-polled", Pools.TaskPolled::new);
        all.put("pool-task-cancelled", Pools.TaskCancelled::new);

        all.put("parallel-action", Parallel.Action::new);
        all.put("parallel-task", Parallel.Task::new);
        all.put("parallel-completer", Parallel.Completer::new);
        all.put("parallel-adapted", Parallel.Adapted::new);
        all.put("parallel-stream-reduce", Parallel.StreamReduce::new);
        all.put("parallel-stream-collect", Parallel.StreamCollect::new);
        all.put("parallel-stream-group", Parallel.StreamGroup::new);
        all.put("parallel-stream-for-each", Parallel.StreamForEach::new);
        all.put("parallel-stream-slots", Parallel.StreamSlots::new);
        all.put("parallel-stream-sorted", Parallel.StreamSorted::new);
        all.put("parallel-sort-numbers", Parallel.SortNumbers::new);
        all.put("parallel-sort-objects", Parallel.SortObjects::new);
        all.put("parallel-prefix", Parallel.Prefix::new);
        all.put("parallel-set-all", Parallel.SetAll::new);

        all.put("future-complete", Futures.Complete::new);
        all.put("future-complete-polled", Futures.CompletePolled::new);
        all.put("future-then-apply", Futures.ThenApply::new);
        all.put("future-then-apply-async", Futures.ThenApplyAsync::new);
        all.put("future-then-combine", Futures.ThenCombine::new);
        all.put("future-all-of", Futures.AllOf::new);
        all.put("future-any-of", Futures.AnyOf::new);
        all.put("future-exceptionally", Futures.Exceptionally::new);
        all.put("future-delayed-executor", Futures.DelayedExecutor::new);
        all.put("future-publisher", Futures.Publisher::new);
        all.put("future-timer-tasks", Futures.TimerTasks::new);
        all.put("future-timer-purge", Futures.TimerPurge::new);

        all.put("init-holder", Initialisation.Holder::new);
        all.put("init-static-data", Initialisation.StaticData::new);
        all.put("init-enum-constants", Initialisation.EnumConstants::new);
        all.put("init-other-thread", Initialisation.OtherThread::new);
        all.put("init-side-effect", Initialisation.SideEffect::new);
        all.put("init-superclass", Initialisation.Superclass::new);
        all.put("init-interface-field", Initialisation.InterfaceField::new);
        all.put("init-by-name", Initialisation.ByName::new);
        all.put("init-final-and-volatile", Initialisation.FinalAndVolatile::new);
        all.put("init-hidden-twins", Initialisation.HiddenTwins::new);
        all.put("init-class-value", Initialisation.Computed::new);

        all.put("life-piped-bytes", Lifecycle.PipedBytes::new);
        all.put("life-piped-chars", Lifecycle.PipedChars::new);
        all.put("life-enqueued", Lifecycle.Enqueued::new);
        all.put("life-finaliser", Lifecycle.Finaliser::new);
        all.put("life-finaliser-inherited", Lifecycle.FinaliserInherited::new);
        all.put("life-cleaning", Lifecycle.Cleaning::new);
        all.put("life-shutdown-hook", Lifecycle.ShutdownHook::new);

        all.put("loop-halves", Loops.Halves::new);
        all.put("loop-even-and-odd", Loops.EvenAndOdd::new);
        all.put("loop-rows", Loops.Rows::new);
        all.put("loop-counted", Loops.Counted::new);
        all.put("loop-locked", Loops.Locked::new);
        all.put("loop-locked-inside", Loops.LockedInside::new);
        all.put("loop-thrown", Loops.Thrown::new);
        all.put("loop-returned", Loops.Returned::new);

        return all;
    }
}
