package bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server that answers orders in JSON: it reads the order, looks prices and stock up, books it, and writes what it
 * comes to. Threads meet in a concurrent map, a lock and a counter; one plain counter is forgotten, which is the race
 * to be found. {@link HttpLoad} sends the orders. {@code HttpShop [THREADS]} prints its port and serves until it is
 * ended.
 */
public final class HttpShop {
    private static final int ARTICLES = 500;

    private final Map<String, Article> articles = new ConcurrentHashMap<>();
    private final Map<String, Long> soldByCity = new TreeMap<>();
    private final AtomicLong numbers = new AtomicLong();

    /** Counted by all threads, and guarded by nothing. */
    private long served;

    private static final class Article {
        final String name;
        final long price;
        private long stock = 1_000_000_000L;

        Article(String name, long price) {
            this.name = name;
            this.price = price;
        }

        synchronized boolean take(long many) {
            if (stock < many) return false;
            stock -= many;
            return true;
        }
    }

    private HttpShop() {
        for (int i = 0; i < ARTICLES; i++) articles.put("article-" + i, new Article("Article number " + i, 100 + 7 * i));
    }

    public static void main(String[] args) throws IOException {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 8;
        System.setProperty("sun.net.httpserver.nodelay", "true"); // else an answer waits 40 ms for an acknowledgement
        HttpShop shop = new HttpShop();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        server.createContext("/order", exchange -> answer(exchange, shop.order(body(exchange))));
        server.createContext("/cpu", exchange -> answer(exchange, cpu()));
        server.setExecutor(Executors.newFixedThreadPool(threads));
        server.start();
        System.out.println("port " + server.getAddress().getPort());
        System.out.flush();
    }

    private static String body(HttpExchange exchange) throws IOException {
        return new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** Ticks of processor time that this process has used, in user mode and in the system. */
    private static String cpu() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.toString(Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }

    private String order(String text) {
        Map<?, ?> order = (Map<?, ?>) HttpJson.read(text);
        String city = (String) ((Map<?, ?>) order.get("customer")).get("city");
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("number", numbers.incrementAndGet());
        answer.put("customer", order.get("customer"));
        List<Object> lines = new java.util.ArrayList<>();
        long total = 0;
        for (Object one : (List<?>) order.get("lines")) {
            Map<?, ?> wanted = (Map<?, ?>) one;
            Article article = articles.get(wanted.get("article"));
            long many = ((Number) wanted.get("many")).longValue();
            boolean taken = article.take(many);
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("article", wanted.get("article"));
            line.put("name", article.name);
            line.put("many", many);
            line.put("price", article.price * many);
            line.put("in stock", taken);
            if (taken) total += article.price * many;
            lines.add(line);
        }
        answer.put("lines", lines);
        answer.put("total", total);
        synchronized (soldByCity) {
            soldByCity.merge(city, total, Long::sum);
        }
        served++;
        return HttpJson.write(answer);
    }
}
