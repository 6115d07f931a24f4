/** A loop with two jumps back: a thread waits in it for a volatile or a plain variable. */
class SpinBranch {
    static volatile int flag;
    static int plain;

    public static void main(String[] args) throws InterruptedException {
        Thread waits = new Thread("waits") {
            @Override public void run() {
                int seen = 0;
                while (seen == 0) {
                    seen = flag;
                    if (seen == 0) {
                        seen = plain;
                    }
                }
            }
        };
        waits.start();
        switch (args[0]) {
            case "flag": flag = 1; break;
            case "plain": plain = 1; break;
            default: break;
        }
        waits.join();
    }
}
