package shop;

public class Counter {
    private int count;

    public synchronized void add(int n) {
        count += n;
    }

    public synchronized int get() {
        return count;
    }
}
