package jrf.repaired;

/** The object is complete when it is published, and the flag is volatile. */
public final class Figure23 {
    static final class Data {
        String desc;
    }

    static int x;
    static volatile boolean goFlag;
    static volatile Data publish;
    static final Object LOCK = new Object();

    private Figure23() {}

    static final class Maker extends Thread {
        @Override
        public void run() {
            Data data = new Data();
            data.desc = "e";
            publish = data;
            synchronized (LOCK) {
                x = 5;
            }
            goFlag = true;
        }
    }

    static final class User extends Thread {
        @Override
        public void run() {
            Data data = publish;
            if (data == null) {
                return;
            }
            while (!goFlag) {
                Thread.onSpinWait();
            }
            if (!"e".equals(data.desc)) {
                throw new AssertionError("no description");
            }
        }
    }

    static final class Helper extends Thread {
        @Override
        public void run() {
            synchronized (LOCK) {
                Data data = publish;
                if (data == null) {
                    return;
                }
                goFlag = data.desc != null;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] all = {new Maker(), new User(), new Helper()};
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }
}
