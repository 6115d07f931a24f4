package papers;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads take addresses from a queue until it is empty. Stands for weblech (RaceFuzzer) and for the IBM Web Crawler
 * (jPredictor): they count themselves without a lock, and ask for the size of the queue before they lock it.
 */
public final class Spider implements Runnable {
    private final List<String> queue = new ArrayList<>(List.of("/", "/a", "/b"));
    private int running;
    private int downloaded;

    @Override
    public void run() {
        running++; // race: spider
        while (isMore()) {
            String page = next();
            synchronized (this) {
                downloaded += page.length();
            }
        }
        running--; // race: spider
    }

    private boolean isMore() {
        synchronized (queue) {
            return !queue.isEmpty();
        }
    }

    /** Another thread may have taken the last one since it was asked for. */
    private String next() {
        synchronized (queue) {
            return queue.remove(0);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Spider spider = new Spider();
        Thread first = new Thread(spider, "first");
        Thread second = new Thread(spider, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("downloaded " + spider.downloaded);
    }
}
