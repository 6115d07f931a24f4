import java.util.HashMap;
import java.util.Map;

/**
 * Exchange rates, loaded on first use. Two requests that come in together can
 * both find no table, load it twice, or see one that is only half filled.
 */
public final class LazyCache {
    /** The table everybody shares; null until somebody asks. */
    private static Map<String, Double> rates;

    private LazyCache() {}

    static double rate(String currency) {
        if (rates == null) { // race: LazyCache
            rates = load(); // race: LazyCache
        }
        Double rate = rates.get(currency); // race: LazyCache
        if (rate == null) {
            throw new IllegalArgumentException("no rate for " + currency);
        }
        return rate;
    }

    /** Asks the central bank, which takes its time. */
    private static Map<String, Double> load() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Map<String, Double> table = new HashMap<>();
        table.put("EUR", 1.0);
        table.put("SEK", 11.5);
        table.put("JPY", 160.0);
        return table;
    }

    /** One customer's request: a price in another currency. */
    private static final class Request extends Thread {
        private final String currency;
        private final double euros;
        private double result;

        Request(String currency, double euros) {
            super("request-" + currency);
            this.currency = currency;
            this.euros = euros;
        }

        @Override
        public void run() {
            result = euros * rate(currency);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Request[] requests = {new Request("SEK", 2), new Request("JPY", 3)};
        for (Request request : requests) {
            request.start();
        }
        for (Request request : requests) {
            request.join();
            System.out.println(request.euros + " EUR = " + request.result + " " + request.currency);
        }
    }
}
