package shop;

public class SafeCounter {
    private int count;

    public synchronized void add(int n) {
        count += n;
    }

    public synchronized int get() {
        return count;
    }
}
