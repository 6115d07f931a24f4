import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A pool of connections to a make-believe server, with clients, an evictor of idle connections and a
 * shutdown. The pool's own state is guarded; three things around it are not:
 *
 * <ul>
 *   <li>{@code Connection.lastUsed} is written by the client after it has given the connection back,
 *       and read by the evictor after it has asked the pool for idle connections;
 *   <li>{@code Settings.validate} is set by the administrator before he touches the pool's listeners,
 *       and read by clients after they have told the listeners;
 *   <li>{@code Meter.peak} is written before the meter's lock is taken, and read by the evictor after
 *       it has held that lock.
 * </ul>
 */
public final class Pool {
    private Pool() {}

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // The server.

    /** Answers queries; knows its tables only under its own lock. */
    static final class Server {
        private final Map<String, int[]> tables = new HashMap<>();
        private long served;

        synchronized void create(String table, int rows) {
            int[] data = new int[rows];
            for (int i = 0; i < rows; i++) data[i] = i * i % 97;
            tables.put(table, data);
        }

        synchronized long sum(String table, int from, int to) {
            served++;
            int[] data = tables.get(table);
            if (data == null) throw new IllegalArgumentException("no table " + table);
            long sum = 0;
            for (int i = Math.max(0, from); i < Math.min(to, data.length); i++) sum += data[i];
            return sum;
        }

        synchronized long served() {
            return served;
        }
    }

    static final class Connection {
        final int number;
        private final Server server;
        private boolean open = true;

        /** When it was last of use; not guarded by anything. */
        long lastUsed;

        Connection(int number, Server server) {
            this.number = number;
            this.server = server;
        }

        long query(String table, int from, int to) {
            if (!isOpen()) throw new IllegalStateException("connection " + number + " is closed");
            return server.sum(table, from, to);
        }

        synchronized boolean isOpen() {
            return open;
        }

        synchronized void close() {
            open = false;
        }
    }

    // The pool.

    /** Told of what goes on. */
    static final class Listeners {
        private final List<String> log = new ArrayList<>();
        private int limit = 1000;

        synchronized void told(String what) {
            if (log.size() < limit) log.add(what);
        }

        synchronized void limit(int most) {
            limit = most;
        }

        synchronized int count() {
            return log.size();
        }
    }

    static final class Meter {
        private long borrowed;
        private long returned;

        /** The most connections in use; thought to be published by the lock. */
        int peak;

        void use(int inUse) {
            if (inUse > 1) peak = inUse; // race: pool
            countBorrowed();
        }

        private synchronized void countBorrowed() {
            borrowed++;
        }

        synchronized void countReturned() {
            returned++;
        }

        synchronized long inUse() {
            return borrowed - returned;
        }
    }

    static final class Settings {
        /** Whether connections are tried before they are handed out. */
        boolean validate;

        final int capacity;

        Settings(int capacity) {
            this.capacity = capacity;
        }
    }

    static final class Connections {
        private final ArrayDeque<Connection> idle = new ArrayDeque<>();
        private final List<Connection> all = new ArrayList<>();
        private final Server server;
        private final Settings settings;
        private int inUse;
        private boolean closed;

        Connections(Server server, Settings settings) {
            this.server = server;
            this.settings = settings;
        }

        synchronized Connection borrow() throws InterruptedException {
            while (!closed && idle.isEmpty() && all.size() == settings.capacity) wait();
            if (closed) return null;
            Connection found = idle.pollLast();
            if (found == null) {
                found = new Connection(all.size(), server);
                all.add(found);
            }
            inUse++;
            return found;
        }

        synchronized void giveBack(Connection connection) {
            inUse--;
            if (closed) connection.close();
            else idle.addLast(connection);
            notifyAll();
        }

        synchronized List<Connection> idle() {
            return new ArrayList<>(idle);
        }

        synchronized int inUse() {
            return inUse;
        }

        synchronized int made() {
            return all.size();
        }

        synchronized void shutDown() {
            closed = true;
            while (!idle.isEmpty()) idle.pollFirst().close();
            notifyAll();
        }
    }

    // The parties.

    static final class Client implements Runnable {
        private final Connections connections;
        private final Settings settings;
        private final Listeners listeners;
        private final Meter meter;
        private final int queries;
        private long total;

        Client(Connections connections, Settings settings, Listeners listeners, Meter meter, int queries) {
            this.connections = connections;
            this.settings = settings;
            this.listeners = listeners;
            this.meter = meter;
            this.queries = queries;
        }

        @Override
        public void run() {
            pause(100); // the administrator is done by now
            try {
                for (int i = 0; i < queries; i++) query(i);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            done();
        }

        private void query(int i) throws InterruptedException {
            Connection connection = connections.borrow();
            if (connection == null) return;
            meter.use(connections.inUse() + 1);
            try {
                if (isToBeTried() && !connection.isOpen()) return;
                total += connection.query("orders", i, i + 20);
                pause(1);
            } finally {
                meter.countReturned();
                giveBack(connection, i);
            }
        }

        /** The listeners are told first: they were set up by the administrator. */
        private boolean isToBeTried() {
            listeners.told("borrowed");
            return settings.validate; // race: pool
        }

        private void giveBack(Connection connection, int now) {
            connections.giveBack(connection);
            connection.lastUsed = now; // race: pool
        }

        /** The last word, to the pool as well. */
        private void done() {
            listeners.told("done " + total);
            connections.inUse();
        }
    }

    static final class Administrator implements Runnable {
        private final Settings settings;
        private final Listeners listeners;

        Administrator(Settings settings, Listeners listeners) {
            this.settings = settings;
            this.listeners = listeners;
        }

        @Override
        public void run() {
            pause(40); // has a look around
            settings.validate = true; // race: pool
            listeners.limit(100);
        }
    }

    /** Looks for connections that nobody has used for long. */
    static final class Evictor implements Runnable {
        private final Connections connections;
        private final Meter meter;
        private int evicted;

        Evictor(Connections connections, Meter meter) {
            this.connections = connections;
            this.meter = meter;
        }

        @Override
        public void run() {
            for (int round = 0; round < 3; round++) {
                pause(220); // the client is done by now
                evict();
            }
        }

        private void evict() {
            for (Connection connection : connections.idle()) {
                if (isOld(connection)) {
                    connection.close();
                    evicted++;
                }
            }
            if (meter.inUse() > meter.peak + 100L) evicted--; // race: pool
        }

        private boolean isOld(Connection connection) {
            return connection.lastUsed < 5; // race: pool
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Server server = new Server();
        server.create("orders", 200);
        Settings settings = new Settings(3);
        Connections connections = new Connections(server, settings);
        Listeners listeners = new Listeners();
        Meter meter = new Meter();
        Client client = new Client(connections, settings, listeners, meter, 20);
        Thread[] threads = {
            new Thread(new Administrator(settings, listeners), "administrator"),
            new Thread(client, "client"),
            new Thread(new Evictor(connections, meter), "evictor")
        };
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        connections.shutDown();
        System.out.println("queries " + server.served() + " total " + client.total);
        System.out.println("connections " + connections.made() + " told " + listeners.count());
    }
}
