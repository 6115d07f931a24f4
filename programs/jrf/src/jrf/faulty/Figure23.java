package jrf.faulty;

/** Where moving a statement helps against one thread and not against another. */
public final class Figure23 {
    static final class Data {
        String desc;
    }

    static int x;
    static boolean goFlag;
    static volatile Data publish;
    static final Object LOCK = new Object();

    private Figure23() {}

    static final class Maker extends Thread {
        @Override
        public void run() {
            Data data = new Data();
            publish = data;
            data.desc = "e"; // race: Figure23
            synchronized (LOCK) {
                x = 5;
            }
            goFlag = true; // race: Figure23
        }
    }

    static final class User extends Thread {
        @Override
        public void run() {
            Data data = publish;
            if (data == null) {
                return;
            }
            while (!goFlag) { // race: Figure23
                Thread.onSpinWait();
            }
            if (!"e".equals(data.desc)) { // race: Figure23
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
                goFlag = data.desc != null; // race: Figure23
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
