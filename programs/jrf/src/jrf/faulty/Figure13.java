package jrf.faulty;

/** An object that is published before it is complete. */
public final class Figure13 {
    static final class Data {
        String desc;
    }

    static boolean goFlag;
    static volatile Data publish;

    private Figure13() {}

    static final class Maker extends Thread {
        @Override
        public void run() {
            Data data = new Data();
            publish = data;
            data.desc = "e"; // race: Figure13
            goFlag = true; // race: Figure13
        }
    }

    static final class User extends Thread {
        @Override
        public void run() {
            Data data = publish;
            if (data == null) {
                return;
            }
            while (!goFlag) { // race: Figure13
                Thread.onSpinWait();
            }
            if (!"e".equals(data.desc)) { // race: Figure13
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
