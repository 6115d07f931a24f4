package racy;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs the sections named on the command line, or all of them, one after the
 * other. What each must be reported for stands in expected.toml.
 */
public final class Main {
    private static final Map<String, Section> SECTIONS = sections();

    private Main() {}

    public static void main(String[] args) throws Exception {
        for (String name : args.length == 0 ? SECTIONS.keySet().toArray(new String[0]) : args) {
            Section section = SECTIONS.get(name);
            if (section == null) {
                System.err.println("no section " + name);
                System.exit(2);
            }
            section.run();
            System.out.println("done " + name);
        }
    }

    private static Map<String, Section> sections() {
        Map<String, Section> all = new LinkedHashMap<>();
        all.put("boolean-field", new Fields.BooleanField());
        all.put("byte-field", new Fields.ByteField());
        all.put("char-field", new Fields.CharField());
        all.put("short-field", new Fields.ShortField());
        all.put("int-field", new Fields.IntField());
        all.put("long-field", new Fields.LongField());
        all.put("float-field", new Fields.FloatField());
        all.put("double-field", new Fields.DoubleField());
        all.put("reference-field", new Fields.ReferenceField());

        all.put("static-boolean", new Statics.StaticBoolean());
        all.put("static-int", new Statics.StaticInt());
        all.put("static-long", new Statics.StaticLong());
        all.put("static-double", new Statics.StaticDouble());
        all.put("static-reference", new Statics.StaticReference());
        all.put("inherited-static", new Statics.InheritedStatic());

        all.put("boolean-array", new Elements.BooleanArray());
        all.put("byte-array", new Elements.ByteArray());
        all.put("char-array", new Elements.CharArray());
        all.put("short-array", new Elements.ShortArray());
        all.put("int-array", new Elements.IntArray());
        all.put("long-array", new Elements.LongArray());
        all.put("float-array", new Elements.FloatArray());
        all.put("double-array", new Elements.DoubleArray());
        all.put("reference-array", new Elements.ReferenceArray());
        all.put("nested-element", new Elements.NestedElement());
        all.put("nested-row", new Elements.NestedRow());
        all.put("one-of-many", new Elements.OneOfMany());
        all.put("loop-that-throws", new Loops.LoopThatThrows());
        all.put("loop-that-returns", new Loops.LoopThatReturns());
        all.put("loop-over-two", new Loops.LoopOverTwo());
        all.put("loop-of-strides", new Loops.LoopOfStrides());
        all.put("loop-on-one-element", new Loops.LoopOnOneElement());
        all.put("loop-that-freezes", new Loops.LoopThatFreezes());

        all.put("arraycopy-from", new WholeArrays.ArraycopyFrom());
        all.put("arraycopy-to", new WholeArrays.ArraycopyTo());
        all.put("clone-array", new WholeArrays.CloneArray());
        all.put("arrays-fill", new WholeArrays.Fill());
        all.put("arrays-sort", new WholeArrays.Sort());
        all.put("arrays-copy-of", new WholeArrays.CopyOf());
        all.put("arrays-equals", new WholeArrays.ArraysEquals());
        all.put("arrays-mismatch", new WholeArrays.Mismatch());
        all.put("reflective-get", new WholeArrays.ReflectiveGet());
        all.put("reflective-set", new WholeArrays.ReflectiveSet());

        all.put("reflection-field", new Indirect.ReflectionField());
        all.put("reflection-static", new Indirect.ReflectionAgainstPlain());
        all.put("methodhandle-field", new Indirect.MethodHandleField());
        all.put("varhandle-field", new Indirect.VarHandleField());
        all.put("varhandle-static", new Indirect.VarHandleStatic());
        all.put("varhandle-element", new Indirect.VarHandleElement());
        all.put("varhandle-half", new Indirect.VarHandleHalf());
        all.put("varhandle-opaque", new Indirect.VarHandleOpaque());
        all.put("reflective-constructor", new Indirect.ReflectiveConstructor());

        all.put("hash-map-put", new Containers.HashMapPut());
        all.put("hash-map-value", new Containers.HashMapValue());
        all.put("hash-map-resize", new Containers.HashMapResize());
        all.put("linked-hash-map-get", new Containers.LinkedHashMapGet());
        all.put("tree-map-value", new Containers.TreeMapValue());
        all.put("array-list-add", new Containers.ArrayListAdd());
        all.put("array-list-set", new Containers.ArrayListSet());
        all.put("iterator-against-add", new Containers.IteratorAgainstAdd());
        all.put("synchronized-list-walk", new Containers.SynchronizedListWalk());
        all.put("linked-list-add", new Containers.LinkedListAdd());
        all.put("linked-list-set", new Containers.LinkedListSet());
        all.put("array-deque-add", new Containers.ArrayDequeAdd());
        all.put("priority-queue-offer", new Containers.PriorityQueueOffer());
        all.put("bit-set", new Containers.BitSetSet());
        all.put("concurrent-map-value", new Containers.ConcurrentMapValue());

        all.put("unsafe-publication", new Publication.UnsafePublication());
        all.put("this-escape", new Publication.ThisEscape());
        all.put("volatile-array", new Publication.VolatileArray());
        all.put("final-array", new Publication.FinalArray());
        all.put("record-array", new Publication.RecordArray());
        all.put("missing-volatile", new Publication.MissingVolatile());
        all.put("lazy-init", new Publication.LazyInit());
        all.put("double-checked", new Publication.DoubleChecked());
        all.put("cached-hash", new Publication.CachedHash());

        all.put("two-locks", new Locking.TwoLocks());
        all.put("one-sided", new Locking.OneSided());
        all.put("lock-per-instance", new Locking.LockPerInstance());
        all.put("class-against-object", new Locking.ClassAgainstObject());
        all.put("changing-lock", new Locking.ChangingLock());
        all.put("lock-too-short", new Locking.LockTooShort());
        all.put("read-lock-write", new Locking.ReadLockWrite());
        all.put("optimistic-unchecked", new Locking.OptimisticUnchecked());
        all.put("try-lock-failed", new Locking.TryLockFailed());
        all.put("join-expired", new Locking.JoinExpired());
        all.put("latch-expired", new Locking.LatchExpired());
        all.put("wait-elsewhere", new Locking.WaitElsewhere());
        all.put("wrong-side-of-volatile", new Locking.WrongSideOfVolatile());
        all.put("start-too-early", new Locking.StartTooEarly());
        all.put("stamped-readers", new Locking.StampedReaders());

        all.put("lambda-capture", new Shapes.LambdaCapture());
        all.put("method-reference", new Shapes.MethodReference());
        all.put("inner-class", new Shapes.InnerClass());
        all.put("hidden-class", new Shapes.HiddenClass());
        all.put("anonymous-class", new Shapes.AnonymousClass());
        all.put("nested-private", new Shapes.NestedPrivate());
        all.put("superclass-field", new Shapes.SuperclassField());
        all.put("interface-typed", new Shapes.InterfaceTyped());
        all.put("generic-field", new Shapes.GenericField());
        all.put("enum-field", new Shapes.EnumField());
        all.put("varargs", new Shapes.Varargs());
        all.put("local-class", new Shapes.LocalClass());
        all.put("atomic-content", new Shapes.AtomicContent());
        all.put("control-flow", new Shapes.ControlFlow());
        all.put("compound-assignment", new Shapes.CompoundAssignment());

        all.put("executor", new Tasks.Executor());
        all.put("future-not-awaited", new Tasks.FutureNotAwaited());
        all.put("parallel-stream", new Tasks.ParallelStream());
        all.put("fork-join", new Tasks.ForkJoin());
        all.put("timer", new Tasks.TimerAgainstMain());
        all.put("completable-future", new Tasks.AsyncAgainstMain());
        all.put("thread-local-shared", new Tasks.ThreadLocalShared());
        all.put("inherited-local", new Tasks.InheritedLocal());
        all.put("uncaught-handler", new Tasks.UncaughtHandler());
        all.put("ended-unnoticed", new Tasks.EndedUnnoticed());
        return all;
    }
}
