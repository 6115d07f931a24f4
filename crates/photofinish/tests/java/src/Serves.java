import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A server with a thread for each of two connections, which race on a count, and its client, which
 * goes on for ever: it asks over one connection and the other in turns, each time in two pieces,
 * and waits for the answer, which also comes in two.
 */
final class Serves {
    static int served;

    public static void main(String[] args) throws Exception {
        boolean channels = args.length > 0 && args[0].equals("channels");
        int port = channels ? withChannels() : withStreams();
        try (Socket a = new Socket(InetAddress.getLoopbackAddress(), port);
                Socket b = new Socket(InetAddress.getLoopbackAddress(), port)) {
            for (int i = 1; ; i++) {
                Socket to = i % 2 == 0 ? a : b;
                ask(to);
                System.out.println("answered " + i);
            }
        }
    }

    private static void ask(Socket to) throws IOException {
        OutputStream out = to.getOutputStream();
        out.write('?');
        out.write('\n');
        InputStream in = to.getInputStream();
        for (int got = 0; got != '\n'; ) {
            got = in.read();
            if (got < 0) {
                throw new IOException("no answer");
            }
        }
    }

    private static int withStreams() throws IOException {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        start(() -> {
            while (true) {
                Socket from = server.accept();
                start(() -> {
                    InputStream in = from.getInputStream();
                    OutputStream out = from.getOutputStream();
                    for (int got; (got = in.read()) >= 0; ) {
                        if (got == '\n') {
                            served++;
                            out.write('!');
                            out.write('\n');
                        }
                    }
                });
            }
        });
        return server.getLocalPort();
    }

    private static int withChannels() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        start(() -> {
            while (true) {
                SocketChannel from = server.accept();
                start(() -> {
                    ByteBuffer one = ByteBuffer.allocate(1);
                    while (from.read(one) >= 0) {
                        if (one.get(0) == '\n') {
                            served++;
                            from.write(new ByteBuffer[] {bytes("!"), bytes("\n")});
                        }
                        one.clear();
                    }
                });
            }
        });
        return server.socket().getLocalPort();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes());
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
