package bench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Word counts and the like: collections of java.util in each thread, one concurrent map between them. */
public final class Maps {
    private static final int WORDS = 20_000;

    private Maps() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 12_000_000);
        int parts = 4;
        String[] words = new String[WORDS];
        for (int i = 0; i < WORDS; i++) {
            words[i] = "word" + i * 31 % WORDS;
        }
        Map<String, Integer> shared = new ConcurrentHashMap<>();
        long[] sums = new long[parts];
        team.run(me -> {
            for (int part = me; part < parts; part += team.threads) {
                sums[part] = count(words, shared, team.size / parts, part + 1);
            }
        });
        long sum = 0;
        for (long each : sums) {
            sum = sum * 31 + each;
        }
        for (int each : shared.values()) {
            sum += each;
        }
        System.out.println(sum);
    }

    private static long count(String[] words, Map<String, Integer> shared, int n, long seed) {
        Map<String, Integer> counts = new HashMap<>();
        TreeMap<Integer, Integer> lengths = new TreeMap<>();
        List<Integer> picks = new ArrayList<>();
        ArrayDeque<String> recent = new ArrayDeque<>();
        for (int i = 0; i < n; i++) {
            seed = Team.next(seed);
            int pick = (int) (seed >>> 33) % WORDS;
            String word = words[pick];
            counts.merge(word, 1, Integer::sum);
            if (i % 8 == 0) {
                shared.merge(word, 1, Integer::sum);
                lengths.merge(pick % 100, 1, Integer::sum);
                picks.add(pick);
            }
            recent.addLast(word);
            if (recent.size() > 50) {
                recent.removeFirst();
            }
        }
        Collections.sort(picks);
        long sum = counts.size() + lengths.firstEntry().getValue() + recent.peekFirst().length();
        for (int i = 0; i < picks.size(); i += 100) {
            sum = sum * 31 + picks.get(i);
        }
        return sum;
    }
}
