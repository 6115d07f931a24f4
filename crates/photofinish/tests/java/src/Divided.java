/**
 * Threads that write one volatile field, which the first of them reads at last, so that every
 * interleaving is a class of its own: 210 with three threads and two writes each. "hidden": if that
 * thread sees the last write of the last one, both count in a plain field, and race; in other
 * classes nothing does.
 */
public final class Divided {
    private static volatile int last;
    private static int count;

    private Divided() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int writes = Integer.parseInt(args[1]);
        boolean hidden = args.length > 2 && args[2].equals("hidden");
        Thread[] all = new Thread[threads];
        for (int number = 0; number < threads; number++) {
            int me = number;
            all[number] = new Thread(() -> {
                for (int write = 1; write <= writes; write++) {
                    last = me * 100 + write;
                }
                boolean first = me == 0 && last == (threads - 1) * 100 + writes;
                if (hidden && (first || me == threads - 1)) {
                    count++;
                }
            });
        }
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }
}
