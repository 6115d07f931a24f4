import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Answers that come over a socket within a moment, and somebody who waits a minute for them. Who
 * lets time pass when no thread can run must remember those that are waiting for the network.
 */
public final class Answers {
    private static final int QUESTIONS = 20;

    private Answers() {}

    private static void serve(ServerSocket server) {
        try (Socket client = server.accept();
                DataInputStream in = new DataInputStream(client.getInputStream());
                DataOutputStream out = new DataOutputStream(client.getOutputStream())) {
            for (int i = 0; i < QUESTIONS; i++) {
                out.writeInt(in.readInt() + 1);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void ask(Socket socket, CountDownLatch answered) {
        try (DataInputStream in = new DataInputStream(socket.getInputStream());
                DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
            for (int i = 0; i < QUESTIONS; i++) {
                out.writeInt(i);
                if (in.readInt() == i + 1) {
                    answered.countDown();
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        CountDownLatch answered = new CountDownLatch(QUESTIONS);
        try (ServerSocket server = new ServerSocket(0, 1, here)) {
            Thread answers = new Thread(() -> serve(server), "answers");
            answers.start();
            try (Socket socket = new Socket(here, server.getLocalPort())) {
                Thread asks = new Thread(() -> ask(socket, answered), "asks");
                asks.start();
                System.out.println("answered " + answered.await(1, TimeUnit.MINUTES));
                asks.join();
                answers.join();
            }
        }
    }
}
