package book.faulty;

import book.Two;

/** A sorted list whose nodes are marked before they are unlinked; searches lock nothing. */
public final class LazyList extends Two {
    static final class Node {
        int key;
        boolean marked;
        Node next;

        Node(int key, Node next) {
            this.key = key; // race: LazyList
            this.next = next; // race: LazyList
        }
    }

    private final Node head = new Node(Integer.MIN_VALUE,
            new Node(5, new Node(Integer.MAX_VALUE, null)));

    private boolean add(int key) {
        while (true) {
            Node before = head;
            Node at = before.next; // race: LazyList
            while (at.key < key) { // race: LazyList
                before = at;
                at = at.next; // race: LazyList
            }
            synchronized (before) {
                synchronized (at) {
                    if (linked(before, at)) {
                        if (at.key == key) {
                            return false;
                        }
                        before.next = new Node(key, at); // race: LazyList
                        return true;
                    }
                }
            }
        }
    }

    private boolean remove(int key) {
        while (true) {
            Node before = head;
            Node at = before.next; // race: LazyList
            while (at.key < key) { // race: LazyList
                before = at;
                at = at.next; // race: LazyList
            }
            synchronized (before) {
                synchronized (at) {
                    if (linked(before, at)) {
                        if (at.key != key) {
                            return false;
                        }
                        at.marked = true; // race: LazyList
                        before.next = at.next; // race: LazyList
                        return true;
                    }
                }
            }
        }
    }

    private boolean contains(int key) {
        Node at = head;
        while (at.key < key) { // race: LazyList
            at = at.next; // race: LazyList
        }
        return at.key == key && !at.marked; // race: LazyList
    }

    private static boolean linked(Node before, Node at) {
        return !before.marked && !at.marked && before.next == at;
    }

    @Override
    protected void work(int me) {
        if (me == 0) {
            check(add(3), "nobody else put it there");
            check(remove(5), "nobody else took it");
        } else {
            contains(3);
            contains(5);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        new LazyList().run();
    }
}
