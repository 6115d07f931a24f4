package shop;

public class Counter {
    private int count;

    public void add(int n) {
        count += n;
    }

    public int get() {
        return count;
    }
}
