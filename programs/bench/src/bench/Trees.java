package bench;

/** Search trees: each member builds one of its own, then all look things up in everybody's. */
public final class Trees {
    private static final class Node {
        final long key;
        int count = 1;
        Node left;
        Node right;

        Node(long key) {
            this.key = key;
        }
    }

    private static final class Tree {
        private Node root;
        private int size;

        void add(long key) {
            if (root == null) {
                root = new Node(key);
                size++;
                return;
            }
            Node node = root;
            while (true) {
                if (key == node.key) {
                    node.count++;
                    return;
                }
                Node next = key < node.key ? node.left : node.right;
                if (next == null) {
                    break;
                }
                node = next;
            }
            if (key < node.key) {
                node.left = new Node(key);
            } else {
                node.right = new Node(key);
            }
            size++;
        }

        int count(long key) {
            Node node = root;
            while (node != null && node.key != key) {
                node = key < node.key ? node.left : node.right;
            }
            return node == null ? 0 : node.count;
        }
    }

    private Trees() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 1_200_000);
        int parts = 4; // whatever the number of threads, so that the result does not depend on it
        Tree[] trees = new Tree[parts];
        long[] found = new long[parts];
        team.run(me -> {
            for (int part = me; part < parts; part += team.threads) {
                Tree tree = new Tree();
                long seed = part + 1;
                for (int i = 0; i < team.size / parts; i++) {
                    seed = Team.next(seed);
                    tree.add(seed >>> 42);
                }
                trees[part] = tree;
            }
            team.meet();
            for (int part = me; part < parts; part += team.threads) {
                long seed = part + 100;
                for (int i = 0; i < team.size / parts; i++) {
                    seed = Team.next(seed);
                    for (Tree tree : trees) {
                        found[part] += tree.count(seed >>> 42);
                    }
                }
            }
        });
        long sum = 0;
        for (int part = 0; part < parts; part++) {
            sum = sum * 31 + found[part] + trees[part].size;
        }
        System.out.println(sum);
    }
}
