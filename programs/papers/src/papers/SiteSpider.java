package papers;

/**
 * A fetcher and a parser that hand pages over under a lock; what they hand over is written before and read after. Stands
 * for jspider in RaceFuzzer's table 1: the hybrid detector suspects the pages, and no schedule has a race.
 */
public final class SiteSpider {
    private final Object lock = new Object();
    private String page;
    private int words;
    private boolean ready;

    private void fetch() {
        page = "a page of six words here"; // suspected, ordered by the lock and the flag
        synchronized (lock) {
            ready = true;
        }
    }

    private void parse() {
        boolean is;
        synchronized (lock) {
            is = ready;
        }
        if (is) {
            words = page.split(" ").length;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        SiteSpider spider = new SiteSpider();
        Thread fetcher = new Thread(spider::fetch, "fetcher");
        Thread parser = new Thread(spider::parse, "parser");
        fetcher.start();
        parser.start();
        fetcher.join();
        parser.join();
        System.out.println("done " + (spider.words >= 0));
    }
}
