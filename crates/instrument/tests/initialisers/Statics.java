import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

// The first word of the comment behind a class is what its initialiser does; the rest is part of the reason.
class Nothing { static int n; static final int SIZE = 12; static final String NAME = "n"; } // absent

class Asserts { static void check() { assert Nothing.n == 0; } } // constants

class Computed { static final int HALF = Integer.parseInt("12") / 2; static final String TEXT = "a".repeat(3); } // constants

class Counter { static int next = 7; } // own

class Locks { static final Object A = new Object(), B = new Object(); static int[] counts = new int[4]; } // own

class Atomics { static final AtomicInteger N = new AtomicInteger(3); static final ReentrantLock L = new ReentrantLock(); static final Condition C = L.newCondition(); } // own

class Filled { static final List<String> ALL = new ArrayList<>(); static final Map<String, Integer> BY = new HashMap<>(); static { ALL.add("x"); BY.put("x", 1); for (int i = 0; i < 3; i++) ALL.add("y" + i); } } // own

class Concurrent { static final ConcurrentHashMap<Key, String> M = new ConcurrentHashMap<>(); static { M.put(new Key(1), "a"); } } // own

final class Key { final int k; Key(int k) { this.k = k; } @Override public int hashCode() { return k; } @Override public boolean equals(Object o) { return o instanceof Key && ((Key) o).k == k; } } // absent

class LoudKeys { static final HashMap<LoudKey, String> M = new HashMap<>(); static { M.put(new LoudKey(), "a"); } } // other calls java.io.PrintStream.println

final class LoudKey { @Override public int hashCode() { System.out.println("hash"); return 1; } } // absent

enum Color { RED, GREEN { @Override int weight() { return 2; } }; int weight() { return 1; } } // own

class Switches { static int of(Color c) { switch (c) { case RED: return 1; default: return 2; } } } // absent

class HasColor { static final Color C = Color.RED; static final int W = Color.GREEN.ordinal(); } // own

class Painted { static { Color.GREEN.weight(); } } // own

enum Noisy { A { @Override public String toString() { System.out.println("A"); return "A"; } } } // other calls java.io.PrintStream.println

class Concatenates { static final String S = "is " + Noisy.A; } // other calls java.io.PrintStream.println

enum Tally { ONE; int n; void count() { n++; } } // own

class Counts { static { Tally.ONE.count(); } } // other may change a constant of Tally

class Lambdas { static final Supplier<String> S = () -> "s"; static final Runnable R = Lambdas::run; static void run() { Nothing.n++; } } // own

class Calls { static final Supplier<String> S = () -> "s"; static final String T = S.get(); } // other calls java.util.function.Supplier.get

class Prints { static { System.out.println("first"); } } // other calls java.io.PrintStream.println

class Starts { static final Thread T = new Thread(() -> {}); static { T.start(); } } // other java.lang.Thread

class Holds { static final Thread T = new Thread(); } // other java.lang.Thread

class Throws { static int n = 1; static { if (n > 0) throw new IllegalStateException(); } } // own

class Reads { static int n = Counter.next; } // own

class Shares { static final List<String> MINE = Filled.ALL; } // other uses what is in Filled.ALL

class Registers { static { Filled.ALL.add("z"); } } // other uses what is in Filled.ALL

class Writes { static { Counter.next = 8; } } // other writes Counter.next

class WritesFar { static { step(); } static void step() { Writer.write(); } } // other writes Counter.next

class Writer { static void write() { Counter.next++; } } // absent

class Synchronizes { static int n; static { synchronized (Nothing.class) { n = 1; } } } // other takes a monitor

class SynchronizedCall { static int n = next(); static synchronized int next() { return 1; } } // other is synchronized

class Clocks { static final long T = System.nanoTime(); } // other calls java.lang.System.nanoTime

class Randoms { static final java.util.Random R = new java.util.Random(); } // other java.util.Random

class Seeded { static final java.util.Random R = new java.util.Random(42); } // own

class Locals { static final ThreadLocal<String> T = new ThreadLocal<>(); } // other java.lang.ThreadLocal

interface Defaults { List<String> NAMES = new ArrayList<>(); int N = 3; default int n() { return N; } } // own

class Implements implements Defaults { } // absent

class Inherits extends Counter { static int mine = next; } // own

class InheritsList extends Filled { static int mine = ALL.size(); } // other uses what is in InheritsList.ALL

class Nested { static final Node HEAD = new Node(new Node(null)); static final class Node { Node next; int n; Node(Node next) { this.next = next; if (next != null) next.n = 4; } } } // own

class Virtual { static final int N = new Loud().n(); } // other calls java.io.PrintStream.println

abstract class Quiet { abstract int n(); } // absent

class Loud extends Quiet { @Override int n() { System.out.println("n"); return 1; } } // absent

class Sorts { static final List<Integer> L = new ArrayList<>(); static { L.sort((a, b) -> { Nothing.n++; return 0; }); } } // other calls java.util.List.sort

class Exits { static { System.exit(3); } } // other calls java.lang.System.exit

class Waits { static { try { new Object().wait(1); } catch (Exception e) { } } } // other calls java.lang.Object.wait

class Natively { static native int n(); static final int N = n(); } // other has no bytecode

class Handles { static final java.lang.invoke.VarHandle N; int n; static { try { N = java.lang.invoke.MethodHandles.lookup().findVarHandle(Handles.class, "n", int.class); } catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); } } } // own

class Invokes { static void f() throws Exception { Invokes.class.getMethod("f").invoke(null); } } // other its class calls by reflection

class Reflects { static Object f = make(); static Object make() { try { return Counter.class.getDeclaredField("next"); } catch (Exception e) { return null; } } } // other calls java.lang.Class.getDeclaredField
