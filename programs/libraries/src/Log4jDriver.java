import java.io.StringWriter;
import org.apache.log4j.AsyncAppender;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;

/** log4j: two threads log, a third one changes levels and takes an appender away. */
public final class Log4jDriver {
    private Log4jDriver() {}

    static void log(String name, int times) {
        Logger logger = Logger.getLogger("driver." + name);
        for (int i = 0; i < times; i++) {
            if (logger.isDebugEnabled()) logger.debug("debugging " + i);
            logger.info("message " + i);
        }
    }

    static void configure(Logger root, WriterAppender direct) {
        try {
            Thread.sleep(5);
            Logger.getLogger("driver").setLevel(Level.WARN);
            Logger.getLogger("driver.one").setAdditivity(false);
            direct.setImmediateFlush(false);
            direct.setThreshold(Level.ERROR);
            Thread.sleep(20);
            root.removeAppender(direct);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        StringWriter text = new StringWriter();
        Logger root = Logger.getRootLogger();
        root.setLevel(Level.DEBUG);
        WriterAppender direct = new WriterAppender(new PatternLayout("%-5p %c %m%n"), text);
        AsyncAppender async = new AsyncAppender();
        async.setBufferSize(16);
        async.addAppender(new WriterAppender(new PatternLayout("%m%n"), new StringWriter()));
        root.addAppender(direct);
        root.addAppender(async);
        Thread[] threads = {
            new Thread(() -> log("one", 30), "one"),
            new Thread(() -> log("two", 30), "two"),
            new Thread(() -> configure(root, direct), "configuration")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        async.close();
        System.out.println("logged " + (text.toString().length() >= 0));
    }
}
