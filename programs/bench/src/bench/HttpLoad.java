package bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/**
 * Sends orders to {@link HttpShop}, over kept connections, each as soon as its last one was answered. {@code HttpLoad PORT
 * CONNECTIONS WARM SECONDS}: after WARM seconds it measures for SECONDS, and prints requests a second, the median and the
 * 99th percentile of the time to an answer in microseconds, and the server's processor time for a request in microseconds.
 */
public final class HttpLoad {
    private static final int BODIES = 64;
    private static final int LINES = 12;
    private static final long TICK_MICROS = 10_000;

    private static int port;
    private static volatile long from;
    private static volatile long to;

    private HttpLoad() {}

    public static void main(String[] args) throws Exception {
        port = Integer.parseInt(args[0]);
        int connections = Integer.parseInt(args[1]);
        double warm = Double.parseDouble(args[2]);
        double seconds = Double.parseDouble(args[3]);
        byte[][] orders = new byte[BODIES][];
        Random random = new Random(7);
        for (int i = 0; i < BODIES; i++) orders[i] = request("POST", "/order", order(random));

        from = System.nanoTime() + (long) (warm * 1e9);
        to = from + (long) (seconds * 1e9);
        Client[] clients = new Client[connections];
        for (int i = 0; i < connections; i++) {
            clients[i] = new Client(orders, i);
            clients[i].start();
        }
        sleepUntil(from);
        long before = cpu();
        sleepUntil(to);
        long ticks = cpu() - before;
        long[] all = {};
        for (Client client : clients) {
            client.join();
            if (client.failed != null) throw client.failed;
            int had = all.length;
            all = Arrays.copyOf(all, had + client.count);
            System.arraycopy(client.nanos, 0, all, had, client.count);
        }
        if (all.length == 0) throw new IOException("no answer in time");
        Arrays.sort(all);
        System.out.printf(
                java.util.Locale.ROOT,
                "%.1f requests/s, median %.1f us, 99%% %.1f us, cpu %.1f us%n",
                all.length / seconds,
                all[all.length / 2] / 1e3,
                all[(int) (all.length * 0.99)] / 1e3,
                (double) ticks * TICK_MICROS / all.length);
    }

    private static void sleepUntil(long when) throws InterruptedException {
        long left = when - System.nanoTime();
        if (left > 0) Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
    }

    /** On a connection of its own: the server closes one that is idle for long. */
    private static long cpu() throws IOException {
        try (Connection connection = new Connection()) {
            return Long.parseLong(connection.ask(request("GET", "/cpu", "")));
        }
    }

    private static String order(Random random) {
        StringBuilder out = new StringBuilder("{\"customer\": {\"name\": \"Customer " + random.nextInt(10_000));
        out.append("\", \"street\": \"Long Street ").append(random.nextInt(100)).append("\", \"city\": \"City ");
        out.append(random.nextInt(50)).append("\"}, \"lines\": [");
        for (int i = 0; i < LINES; i++) {
            out.append(i == 0 ? "" : ", ").append("{\"article\": \"article-").append(random.nextInt(500));
            out.append("\", \"many\": ").append(1 + random.nextInt(9)).append("}");
        }
        return out.append("]}").toString();
    }

    private static byte[] request(String method, String path, String body) {
        String head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length() + "\r\n\r\n";
        return (head + body).getBytes(StandardCharsets.UTF_8);
    }

    private static final class Client extends Thread {
        final byte[][] orders;
        final int first;
        long[] nanos = new long[1 << 14];
        int count;
        Exception failed;

        Client(byte[][] orders, int first) {
            this.orders = orders;
            this.first = first;
        }

        @Override
        public void run() {
            try (Connection connection = new Connection()) {
                for (int i = first; ; i++) {
                    long sent = System.nanoTime();
                    if (sent - to >= 0) return;
                    connection.ask(orders[i % BODIES]);
                    long answered = System.nanoTime();
                    if (sent - from < 0 || answered - to >= 0) continue;
                    if (count == nanos.length) nanos = Arrays.copyOf(nanos, 2 * count);
                    nanos[count++] = answered - sent;
                }
            } catch (Exception e) {
                failed = e;
            }
        }
    }

    private static final class Connection implements AutoCloseable {
        private final Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        private final OutputStream out = socket.getOutputStream();
        private final InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
        private final byte[] line = new byte[1 << 10];

        Connection() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
        }

        String ask(byte[] request) throws IOException {
            out.write(request);
            int length = -1;
            String status = line();
            if (!status.startsWith("HTTP/1.1 200 ")) throw new IOException("the server answers " + status);
            for (String header = line(); !header.isEmpty(); header = line()) {
                if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
                    length = Integer.parseInt(header.substring(15).trim());
                }
            }
            byte[] body = in.readNBytes(length);
            if (body.length != length) throw new IOException("the answer ends early");
            return new String(body, StandardCharsets.UTF_8);
        }

        private String line() throws IOException {
            int n = 0;
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) throw new IOException("the connection ends early");
                if (c != '\r') line[n++] = (byte) c;
            }
            return new String(line, 0, n, StandardCharsets.ISO_8859_1);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
