package org.photofinish.junit5;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Races that the agent has written, handed out to the tests that they are of.
 *
 * <p>A race is of the tests that its two threads worked for. A thread of a pool works for the test that
 * made the pool, though another may use it; so if none of these tests runs any more, or none is known,
 * the race is of the tests that run now: if that is one alone there is no doubt.
 */
final class Findings {
    private static final Findings SHARED = Agent.isThere() ? new Findings(Agent.directory()) : null;

    private final RandomAccessFile file;
    private final Set<Integer> running = new HashSet<>();
    private final List<Race> waiting = new ArrayList<>();
    private int last;

    /** Those of this JVM, for all tests of it, whichever JUnit runs them; null without the agent. */
    static Findings shared() {
        return SHARED;
    }

    private Findings(Path directory) {
        try {
            file = new RandomAccessFile(directory.resolve("findings.jsonl").toFile(), "r");
        } catch (IOException e) {
            throw new UncheckedIOException("the agent's findings cannot be read", e);
        }
    }

    /** A test begins; its number. */
    synchronized int begin() {
        read();
        running.add(++last);
        return last;
    }

    /** The test ends: what it raced on. */
    synchronized List<Race> end(int test) {
        read();
        List<Race> own = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (Iterator<Race> i = waiting.iterator(); i.hasNext(); ) {
            Race race = i.next();
            if (!isOf(race, test)) continue;
            i.remove();
            if (known.add(race.key())) own.add(race);
        }
        running.remove(test);
        return own;
    }

    /** What is left, once no test runs any more. */
    synchronized List<Race> rest() {
        read();
        if (!running.isEmpty()) return List.of();
        List<Race> rest = new ArrayList<>(waiting);
        waiting.clear();
        return rest;
    }

    private boolean isOf(Race race, int test) {
        Set<Integer> tests = race.tests();
        if (tests.contains(test)) return true;
        for (int other : tests) {
            if (running.contains(other)) return false;
        }
        return running.size() == 1;
    }

    /** Lines that are new. A line that is being written has no end yet, and waits. */
    private void read() {
        try {
            long start = file.getFilePointer();
            byte[] bytes = new byte[(int) Math.min(file.length() - start, 64 << 20)];
            file.readFully(bytes);
            int from = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (bytes[i] != '\n') continue;
                Race race = Race.read(new String(bytes, from, i - from, StandardCharsets.UTF_8));
                if (race != null) waiting.add(race);
                from = i + 1;
            }
            file.seek(start + from);
        } catch (IOException e) {
            throw new UncheckedIOException("the agent's findings cannot be read", e);
        }
    }
}
