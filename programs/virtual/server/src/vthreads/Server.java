package vthreads;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The JDK's HTTP server with a virtual thread a request, under load by its own clients: `Server CLIENTS REQUESTS`.
 * One counter is unprotected; a lock, an atomic and a concurrent map protect the rest. When all requests are
 * answered it says so and goes on serving: it ends by a signal.
 */
public final class Server {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Map<String, Integer> PATHS = new HashMap<>();
    private static final Map<String, Integer> SEEN = new ConcurrentHashMap<>();
    private static final AtomicLong BYTES = new AtomicLong();

    /** Clients whose first request has not come. */
    private static final AtomicInteger MISSING = new AtomicInteger();

    static int requests;

    private Server() {}

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[0]);
        int each = Integer.parseInt(args[1]);
        MISSING.set(clients);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", Server::handle);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        int port = server.getAddress().getPort();
        CountDownLatch done = new CountDownLatch(clients);
        for (int i = 0; i < clients; i++) {
            int client = i;
            Thread.startVirtualThread(() -> {
                for (int n = 0; n < each; n++) ask(port, "/" + client + "/" + n);
                done.countDown();
            });
        }
        done.await();
        System.out.println("answered");
    }

    private static void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        if (path.endsWith("/0")) meet();
        requests++; // race: server
        LOCK.lock();
        try {
            PATHS.merge(path, 1, Integer::sum);
        } finally {
            LOCK.unlock();
        }
        SEEN.merge(path, 1, Integer::sum);
        byte[] answer = ("hello " + path).getBytes(StandardCharsets.UTF_8);
        BYTES.addAndGet(answer.length);
        exchange.sendResponseHeaders(200, answer.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(answer);
        }
    }

    /** All clients' first requests are at work together; what comes after this is unordered. */
    private static void meet() {
        MISSING.decrementAndGet();
        while (MISSING.get() > 0) Thread.yield();
    }

    private static void ask(int port, String path) {
        try {
            URI uri = URI.create("http://127.0.0.1:" + port + path);
            HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
            try (InputStream in = connection.getInputStream()) {
                String answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (!answer.equals("hello " + path)) throw new AssertionError(answer);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
