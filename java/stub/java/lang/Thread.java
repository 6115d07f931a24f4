package java.lang;

/** For javac only: the members of the real Thread that the bridge uses, and the field the agent adds. */
public class Thread implements Runnable {
    public PhotofinishThread $pf;

    public Thread(ThreadGroup group, Runnable target, String name) {}

    public static native Thread currentThread();

    public native void start();

    public final native ThreadGroup getThreadGroup();

    public native void setContextClassLoader(ClassLoader loader);

    public final native String getName();

    public final native boolean isDaemon();

    public enum State {
        TERMINATED
    }

    public void run() {}
}
