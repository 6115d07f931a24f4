package book;

/** An entry of a bucket; buckets are chains of them. */
public final class Item {
    private final int key;
    private final Item next;

    public Item(int key, Item next) {
        this.key = key;
        this.next = next;
    }

    public static boolean contains(Item chain, int key) {
        for (Item item = chain; item != null; item = item.next) {
            if (item.key == key) {
                return true;
            }
        }
        return false;
    }

    /** The entries of a table, spread over one twice as large. */
    public static Item[] spread(Item[] table) {
        Item[] larger = new Item[2 * table.length];
        for (Item chain : table) {
            for (Item item = chain; item != null; item = item.next) {
                int at = item.key % larger.length;
                larger[at] = new Item(item.key, larger[at]);
            }
        }
        return larger;
    }
}
