import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/** Hash codes and identity: stable, equal to themselves, and the same in every thread. */
public final class Identity {
    private int value;

    private Identity() {}

    public static void main(String[] args) throws InterruptedException {
        Identity[] things = new Identity[2_000];
        int[] hashes = new int[things.length];
        Map<Object, Integer> byHash = new HashMap<>();
        Map<Object, Integer> byIdentity = new IdentityHashMap<>();
        Map<Object, Integer> weak = new WeakHashMap<>();
        for (int i = 0; i < things.length; i++) {
            things[i] = new Identity();
            things[i].value = i;
            hashes[i] = things[i].hashCode();
            byHash.put(things[i], i);
            byIdentity.put(things[i], i);
            weak.put(things[i], i);
        }
        // Taken, locked, inflated and collected around: the hash stays.
        Set<Integer> changed = ConcurrentHashMap.newKeySet();
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < things.length; i++) {
                    synchronized (things[i]) {
                        if (System.identityHashCode(things[i]) != hashes[i]) {
                            changed.add(i);
                        }
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.gc();
        int right = 0;
        for (int i = 0; i < things.length; i++) {
            if (byHash.get(things[i]) == i
                    && byIdentity.get(things[i]) == i
                    && weak.get(things[i]) == i
                    && things[i].hashCode() == hashes[i]
                    && things[i].value == i) {
                right++;
            }
        }
        System.out.println(changed.size() + " changed, " + right + " of " + things.length + " right");
        System.out.println(new int[0].hashCode() == 0 ? "no hash" : "arrays have hashes");
        System.out.println(new String("a") == "a" ? "one string" : "two strings");
        System.out.println(System.identityHashCode(null));
    }
}
