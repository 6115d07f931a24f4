package papers;

/**
 * A crawler asks several archives at once and cancels those that are late. Stands for hedc (RaceFuzzer, jPredictor) and
 * has its documented fault: a task forgets its thread when it is done, between two looks of the one who cancels it.
 */
public final class MetaCrawler {
    private MetaCrawler() {}

    private static final class Task implements Runnable {
        private final String archive;
        private Thread worker;
        private String found;

        Task(String archive) {
            this.archive = archive;
        }

        @Override
        public void run() {
            synchronized (this) {
                found = "about " + archive;
            }
            worker = null; // race: crawler
        }

        void cancel() {
            if (worker != null) { // race: crawler
                worker.interrupt(); // race: crawler
            }
        }

        synchronized String found() {
            return found;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Task[] tasks = {new Task("magnetograms"), new Task("images")};
        Thread[] workers = new Thread[tasks.length];
        for (int i = 0; i < tasks.length; i++) {
            workers[i] = new Thread(tasks[i], tasks[i].archive);
            tasks[i].worker = workers[i];
            workers[i].start();
        }
        for (Task task : tasks) {
            task.cancel();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println(tasks[0].found() + ", " + tasks[1].found());
    }
}
