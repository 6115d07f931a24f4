package java.lang;

import static java.lang.PhotofinishConstants.*;

import jdk.internal.vm.annotation.DontInline;

/**
 * What belongs to one thread of the program. Only that thread touches it, except for {@link
 * #ended}, which is written once, before the thread is seen to be dead.
 *
 * <p>The vector clock lives in native memory, 32 bits a slot, where both compiled Java code and the
 * agent read it without ceremony; the two words below it carry results of the slow path back.
 */
public final class PhotofinishThread {
    /** Whether there is any yet. */
    static boolean any;

    // Sizes of caches, powers of two. There may be a million virtual threads at once: they make do with less.
    private static final int NEAR = 128;
    private static final int BY_HASH = 2048;
    private static final int SETS = 64;
    private static final int CLASSES = 256;
    private static final int CONTEXTS = 256;
    private static final int HANDLES = 64;
    private static final int FEW = 8;
    private static final int RING = 16;

    /** Threads live for one of many executions: filling caches would cost more than misses do. */
    static boolean brief;

    private static final int BRIEF_NEAR = 32;
    private static final int BRIEF_HASH = 64;
    private static final int BRIEF_SETS = 16;

    /** Stands for the ends of all threads: the VM's shutdown comes after them. */
    static final Object ENDED = new Object();

    /** Whether it is virtual, and on one carrier or another. */
    final boolean virtual;

    /** Number of this thread in the run. */
    final int id;

    /** Place of this thread in vector clocks; reused after its death if nothing can tell. */
    final int slot;

    /** Address of the clock: one unsigned 32-bit value a slot. */
    final long clock;

    /** The current epoch: clock << 12 | slot. */
    long epoch;

    /** The era that it is in, or was in last (see PhotofinishSampling). */
    int era;

    /** Locks found last, by site. */
    final PhotofinishShadow[] near;

    /** Arrays found last, by site, and by identity hash. */
    final PhotofinishArray[] arrays;

    final PhotofinishArray[] byHash;

    /** Garbage collections that the caches have been cleared of. */
    int collections;

    /** Read sets known to contain this thread's current epoch, as they stand in read words. */
    final long[] sets;

    /** Read sets all of whose reads come before what this thread does in its current epoch. */
    private final long[] covered;

    /** What a read of this epoch makes of a read word: the word, the site of the read, the new word. */
    private final long[] joinedFrom;

    private final int[] joinedSite;
    private final long[] joinedTo;

    private boolean setsUsed = true;

    /**
     * A compare-and-set is under way: the clock that was published for it, and the one in whose place
     * (see PhotofinishClocks); in events, where the records of those stand that are, innermost last, each
     * followed by what it says on success (see PhotofinishEvents).
     */
    int[] tried;

    int[] replaced;
    final long[] attempts = new long[PhotofinishNative.EVENTS ? PhotofinishEvents.ATTEMPTS : 0];
    int attempted;

    /** How the compare-and-exchange ended whose after-probe comes next (see Photofinish). */
    int exchanged;

    /** What is known now, for objects to be frozen with; null when that has changed since. */
    int[] frozen;

    /** What was known to the maker of the frozen object read last: known here too. */
    int[] unfrozen;

    /** The innermost call of the program into the JDK that the thread is in, by its site; 0 if none is known. */
    int call;

    /** Statements of the JDK in calls of the program, found last: call and site, and what stands for both in stamps. */
    private final long[] contextKeys;

    private final int[] contexts;

    /** Depth of work that the JDK does for itself: no event tells what it does to data. */
    int unwatched;

    /** Number of this thread among the controlled ones, plus one; 0 if it is not controlled. Set by the agent. */
    int place;

    /** Ranges of elements that its next operation accesses: arrays, first element and number of each, sites. */
    final Object[] rangeArrays = new Object[2];

    final int[] rangeBounds = new int[4];
    final int[] rangeSites = new int[2];
    int rangeCount;

    /** The read under way that sees an older value, or the write, and where it goes. */
    PhotofinishWeak.Location weakSeen;

    PhotofinishWeak.Location weakWritten;
    Object weakBase;
    PhotofinishShadow weakOwner;
    int weakSite;

    /** The object whose monitor the thread waits for. */
    Object awaited;

    /** Depth of class loading, linking and initialisation: no other thread goes on meanwhile. */
    int linking;

    /** Depth of class loading and linking that a statement's first execution brings: it orders nothing. */
    int loading;

    /** Depth of modelled methods: inside them atomics are not the program's synchronisation. */
    int quiet;

    /** Trusted code is about to take a lock of java.util.concurrent: 1 before its method, 2 inside. */
    int trusting;

    /** In an exploration: what is being updated atomically, by which statement, and what was there. */
    Object updating;

    long updated;
    int updatedAt;
    long before;

    /** How often it did something in an exploration that may have left something behind in memory. */
    int writes;

    /**
     * The VarHandle access that began last, and how often the thread had written then: what the JDK
     * writes to link it, when it is first made, is no part of the program.
     */
    int handleSite;

    int handleWrites;

    /** What the locals hold of which it is being told (see PhotofinishControl.loop). */
    long locals;

    /** The modelled method that begins is explored step by step. */
    boolean opened;

    /** Locks held, innermost last, and of which kind each is (see PhotofinishLocks). */
    PhotofinishShadow[] held = new PhotofinishShadow[8];

    byte[] heldKinds = new byte[8];
    int heldCount;

    /** What the conversion of a stamped lock gave up when it began (see PhotofinishLocks); -1 nothing. */
    int givenUp = -1;

    /** Locks given up in wait or await, with how often they were held. */
    PhotofinishShadow[] waits = new PhotofinishShadow[2];

    /** How often each was held; negative if an exploration was told of that. */
    int[] waitHolds = new int[2];
    int waitCount;

    /** What is known at the end of this thread, for threads that notice that it has ended. */
    volatile int[][] ended;

    /** Methods of the relation that the thread is in (see PhotofinishMayTrigger). */
    int[] frames = new int[PhotofinishMayTrigger.ON ? 32 : 0];

    int frameCount;

    /** The lock that it is about to take. */
    PhotofinishShadow wanted;

    /** How often locks were taken lately, by site and class. */
    final int[] takenKeys = new int[PhotofinishMayTrigger.ON ? PhotofinishMayTrigger.TAKEN : 0];

    final int[] taken = new int[PhotofinishMayTrigger.ON ? PhotofinishMayTrigger.TAKEN : 0];

    /** Event buffer: where the next record goes, and where it is full. */
    long cursor;

    long limit;

    /** Where the buffer begins. */
    long first;

    /** Records of others than reads when it recorded its last read, where one thread runs at a time. */
    long writesSeen;

    /** The latest number that stands in its records. */
    long number;

    /** Of the access under way (see PhotofinishOrder): its stripe, 0 for none; its site; what it does. */
    long window;

    int windowSite;
    int windowKind;

    /** If several elements are: intervals of stripes, how many bounds these have, the last one taken, if all could be. */
    final int[] intervals = new int[PhotofinishOrder.ON ? 8 : 0];

    int intervalBounds;
    int rangeTaken = -1;
    long rangeReads;
    boolean rangeSure;

    /** Conditionals decided and not written down yet, below a leading one (see PhotofinishFlow). */
    int bits = 1;

    /** Conditionals, jumps back, switches, calls and returns so far, and how many there were at the last place told. */
    int steps;

    int told;

    /** Block of object numbers that only this thread gives out. */
    long nextId;

    long lastId;

    /** Classes whose statics the thread has used lately, by number (see PhotofinishEvents). */
    final long[] classes;

    /** Layouts of classes looked at last, by site (see PhotofinishHandles). */
    final PhotofinishLayout[] layouts;

    /** VarHandles looked at last, by site. */
    final PhotofinishHandle[] handles;

    /** Arrays made last, until something is known of them; weak, so that they do not live for it. */
    private java.lang.ref.WeakReference<Recent> recent = new java.lang.ref.WeakReference<>(null);

    private static final class Recent {
        final Object[] arrays = new Object[RING];
        final int[] sites = new int[RING];
        int next;
    }

    PhotofinishThread(int id, int slot, long clock, int start, boolean virtual) {
        this.id = id;
        this.slot = slot;
        this.clock = clock;
        this.virtual = virtual;
        int near = virtual ? FEW : brief ? BRIEF_NEAR : NEAR;
        this.near = new PhotofinishShadow[near];
        arrays = new PhotofinishArray[near];
        byHash = new PhotofinishArray[virtual ? FEW : brief ? BRIEF_HASH : BY_HASH];
        collections = PhotofinishTable.collections(); // nothing in them is dead
        int sets = virtual ? FEW : brief ? BRIEF_SETS : SETS;
        this.sets = new long[sets];
        covered = new long[sets];
        joinedFrom = new long[sets];
        joinedSite = new int[sets];
        joinedTo = new long[sets];
        contextKeys = new long[virtual ? FEW : brief ? BRIEF_NEAR : CONTEXTS];
        contexts = new int[contextKeys.length];
        layouts = new PhotofinishLayout[virtual ? FEW : brief ? BRIEF_SETS : HANDLES];
        handles = new PhotofinishHandle[virtual ? FEW : brief ? BRIEF_SETS : HANDLES];
        classes = new long[PhotofinishNative.EVENTS ? virtual ? FEW : CLASSES : 0];
        enter((long) start << STAMP_SLOT_BITS | slot);
        PhotofinishNative.U.putInt(clock + CLOCK_SLOT_BYTES * slot, start);
        for (int i = 0; i < near; i++) {
            this.near[i] = PhotofinishTable.NONE;
            arrays[i] = PhotofinishTable.NONE;
        }
        for (int i = 0; i < byHash.length; i++) byHash[i] = PhotofinishTable.NONE;
        if (PhotofinishNative.EVENTS) PhotofinishNative.openBuffer(this, clock);
    }

    /** Called by the agent for threads that no program thread started: main, attached ones, the VM's. */
    static void attach(Thread thread, boolean system) {
        if (thread.$pf != null || PhotofinishVirtual.isCarrier(thread)) return;
        any = true;
        thread.$pf = PhotofinishNative.newThread(thread, null, system, false);
        if (PhotofinishNative.EVENTS) PhotofinishEvents.begin(thread.$pf);
    }

    /** Called by the agent when a thread has run its last bytecode, before it is seen to be dead. */
    static void gone(Thread thread) {
        PhotofinishThread t = thread.$pf;
        if (t != null && t.ended == null) t.end();
    }

    void fork(Thread child, boolean virtual) {
        if (child.$pf != null) child.$pf.end(); // the system had no thread to give the last time
        PhotofinishThread c = PhotofinishNative.newThread(child, this, false, virtual);
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.fork(this, c);
        } else {
            PhotofinishClocks.inherit(c, this);
        }
        child.$pf = c;
    }

    private void end() {
        if (!virtual) PhotofinishLocks.lastRelease(this, ENDED); // the VM never waits for virtual ones
        if (PhotofinishNative.EVENTS) {
            PhotofinishEvents.end(this);
            ended = new int[0][];
        } else {
            ended = PhotofinishClocks.last(this);
        }
        PhotofinishNative.endThread(slot, clock);
    }

    void join(PhotofinishThread other) {
        int[][] last = other.ended;
        if (last == null || other == this) return;
        if (PhotofinishNative.EVENTS) PhotofinishEvents.joined(this, other);
        else PhotofinishClocks.acquire(this, last);
    }

    void loadingBegin() {
        loading++;
        unwatched++;
    }

    void loadingEnd() {
        if (loading == 0) return;
        loading--;
        if (unwatched > 0) unwatched--;
    }

    void tries(int[] published, int[] instead) {
        tried = published;
        replaced = instead;
    }

    void growHeld() {
        int n = held.length;
        PhotofinishShadow[] locks = new PhotofinishShadow[2 * n];
        byte[] kinds = new byte[2 * n];
        System.arraycopy(held, 0, locks, 0, n);
        System.arraycopy(heldKinds, 0, kinds, 0, n);
        held = locks;
        heldKinds = kinds;
    }

    void growWaits() {
        int n = waits.length;
        PhotofinishShadow[] locks = new PhotofinishShadow[2 * n];
        int[] holds = new int[2 * n];
        System.arraycopy(waits, 0, locks, 0, n);
        System.arraycopy(waitHolds, 0, holds, 0, n);
        waits = locks;
        waitHolds = holds;
    }

    /** The word of a read set that contains the current epoch: the next such read is done at once. */
    void knows(long set) {
        sets[(int) (set >>> STAMP_CLOCK_SHIFT) & sets.length - 1] = set;
        setsUsed = true;
    }

    /** All reads of the set come before this thread's next access. */
    void covers(long set) {
        covered[(int) (set >>> STAMP_CLOCK_SHIFT) & sets.length - 1] = set;
        setsUsed = true;
    }

    /** What stands in stamps for a statement: of the JDK's, one number for each call of the program that leads there. */
    int inContext(int site) {
        if (call == 0) return site;
        int at = site * 31 + call & contexts.length - 1;
        return contextKeys[at] == ((long) call << 32 | site) ? contexts[at] : newContext(site, at);
    }

    @DontInline
    private int newContext(int site, int at) {
        contextKeys[at] = (long) call << 32 | site;
        return contexts[at] = PhotofinishNative.context(site, call);
    }

    /** Whether the word is such a read set. */
    boolean isIn(long set) {
        return sets[(int) (set >>> STAMP_CLOCK_SHIFT) & sets.length - 1] == set;
    }

    boolean isCovered(long set) {
        return covered[(int) (set >>> STAMP_CLOCK_SHIFT) & sets.length - 1] == set;
    }

    /** A read by the statement in this epoch turns one read word into another. */
    void join(long r, int site, long now) {
        int i = joinedIndex(r, site);
        joinedFrom[i] = r;
        joinedSite[i] = site;
        joinedTo[i] = now;
        setsUsed = true;
    }

    /** What that is; 0 if it is not known. */
    long joined(long r, int site) {
        int i = joinedIndex(r, site);
        return joinedFrom[i] == r && joinedSite[i] == site ? joinedTo[i] : 0;
    }

    private int joinedIndex(long r, int site) {
        return (int) (r >>> STAMP_CLOCK_SHIFT ^ r ^ site) & joinedFrom.length - 1;
    }

    /** A new epoch, which no set contains. */
    void enter(long epoch) {
        this.epoch = epoch;
        if (setsUsed) {
            for (int i = 0; i < sets.length; i++) {
                sets[i] = -1;
                covered[i] = -1;
                joinedFrom[i] = -1;
            }
            setsUsed = false;
        }
    }

    /** After a collection: what is dead must not hold on to its cells, what is in use is kept. */
    void forgetDead(int now) {
        collections = now;
        for (int i = 0; i < near.length; i++) {
            if (near[i].refersTo(null)) near[i] = PhotofinishTable.NONE;
        }
        sort(arrays);
        sort(byHash);
    }

    private static void sort(PhotofinishArray[] cache) {
        for (int i = 0; i < cache.length; i++) {
            if (cache[i].refersTo(null)) cache[i] = PhotofinishTable.NONE;
            else if (cache[i].owner != 0) PhotofinishTable.keep(cache[i]);
        }
    }

    void allocated(Object array, int site) {
        Recent r = recent.get();
        if (r == null) {
            r = new Recent();
            recent = new java.lang.ref.WeakReference<>(r);
        }
        int i = r.next++ & RING - 1;
        r.arrays[i] = array;
        r.sites[i] = site;
    }

    int allocationSite(Object array) {
        Recent r = recent.get();
        if (r == null) return 0;
        for (int n = 1; n <= RING; n++) { // most likely the last one
            int i = r.next - n & RING - 1;
            if (r.arrays[i] == array) return r.sites[i];
        }
        return 0;
    }
}
