package jrf.repaired;

/** The object is complete when it is published, and the flag is volatile. */
public final class Figure13 {
    static final class Data {
        String desc;
    }

    static volatile boolean goFlag;
    static volatile Data publish;

    private Figure13() {}

    static final class Maker extends Thread {
        @Override
        public void run() {
            Data data = new Data();
            data.desc = "e";
            publish = data;
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

    public static void main(String[] args) throws InterruptedException {
        Thread maker = new Maker();
        Thread user = new User();
        maker.start();
        user.start();
        maker.join();
        user.join();
    }
}
