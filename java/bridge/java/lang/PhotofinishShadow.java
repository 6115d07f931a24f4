package java.lang;

/** What we know of an object that is used as a lock, or that order goes through otherwise. */
final class PhotofinishShadow extends PhotofinishArray {
    /** What the last release of this lock knew. */
    int[] clock;

    /** What readers of a read-write lock knew when they released it. */
    int[] sharedClock;

    /** What was released through this object otherwise: task hand-over, constructor to finaliser. */
    int[] syncClock;

    /** If the object is a class: where its fields have their shadows. */
    PhotofinishLayout layout;

    PhotofinishLayout staticLayout;

    /** Only the thread that holds the lock writes these. */
    PhotofinishThread holder;

    int holds;

    /** The lock of java.util.concurrent that the object is, if it is one; its monitor is another. */
    PhotofinishShadow lock;

    /** A stamped lock that was unlocked by a thread that had not locked it: who holds it is unknown. */
    boolean loose;

    /** Number of the object among those that points came to; 0: none yet. */
    int number;

    /** Somebody has waited for this monitor: its release is told. */
    boolean contended;

    /** Trusted code keeps data behind this lock; only where there are events. */
    boolean keeps;

    /** What was written to it, where reads may see older values. */
    PhotofinishWeak.Locations weak;

    /** Its class, as a lock, by number (see PhotofinishMayTrigger); 0: nobody has asked. */
    int lockClass;

    /** The strategy knows that class. */
    boolean told;

    /** Its acquisition was told to an exploration, so its release must be. */
    boolean stepped;

    /** A lock that has conditions: what happens inside it is explored step by step. */
    boolean open;

    /** If the object is a class: the name that equivalent executions know it by; 0: none. */
    final long made;

    /** Class of the object, or the class that it is itself, for reports. */
    final String name;

    final boolean isClass;

    final boolean isLoader;

    PhotofinishShadow(Object o, int hash) {
        super(o, hash);
        isClass = o instanceof Class;
        made = isClass && PhotofinishControl.EXPLORE ? PhotofinishNative.nameOf(o) : 0;
        isLoader = o instanceof ClassLoader;
        name = o == null ? null : (isClass ? (Class<?>) o : o.getClass()).getName();
    }
}
