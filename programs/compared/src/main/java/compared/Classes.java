package compared;

import java.util.HashMap;
import java.util.Map;

/** Five classes that are not safe for several threads, and one that is. */
final class Classes {
    private Classes() {}

    /** Loses updates. */
    static final class Counter {
        private int count;

        void add() {
            count++;
        }

        int get() {
            return count;
        }
    }

    /** Fills a HashMap while others read it. */
    static final class Cache {
        private final Map<String, Integer> lengths = new HashMap<>();

        int length(String text) {
            Integer known = lengths.get(text);
            if (known == null) {
                known = text.length();
                lengths.put(text, known);
            }
            return known;
        }
    }

    /** A flag that is not volatile: no interleaving is wrong, but the reader may never see it. */
    static final class StopFlag {
        private boolean stopped;

        void stop() {
            stopped = true;
        }

        boolean isStopped() {
            return stopped;
        }
    }

    /** Hands over without ordering: right in every interleaving, and not by the memory model. */
    static final class Letterbox {
        private int letter;
        private boolean full;

        void put(int letter) {
            this.letter = letter;
            full = true;
        }

        /** 0 if there is nothing in it. */
        int take() {
            return full ? letter : 0;
        }
    }

    /** Checks, and then acts. */
    static final class Line {
        private StringBuilder buffer = new StringBuilder();

        void send(String text) {
            if (buffer != null) {
                buffer.append(text);
            }
        }

        void hangUp() {
            buffer = null;
        }
    }

    /** Correct. */
    static final class LockedCounter {
        private int count;

        synchronized void add() {
            count++;
        }

        synchronized int get() {
            return count;
        }
    }
}
