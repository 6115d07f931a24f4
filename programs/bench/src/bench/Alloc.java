package bench;

/** Short-lived small objects and arrays, most of which survive nothing. */
public final class Alloc {
    private static final class Vector {
        double x;
        double y;

        Vector(double x, double y) {
            this.x = x;
            this.y = y;
        }

        Vector plus(Vector other) {
            return new Vector(x + other.x, y + other.y);
        }
    }

    /** Keeps some of what is made for a little while, so that it cannot be optimised away. */
    private static final class Shelf {
        private final Object[] places = new Object[64];

        void keep(int n, Object what) {
            places[n & 63] = what;
        }
    }

    private Alloc() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 240_000_000);
        int parts = 4;
        long[] sums = new long[parts];
        team.run(me -> {
            Shelf shelf = new Shelf();
            for (int part = me; part < parts; part += team.threads) {
                long sum = 0;
                Vector position = new Vector(0, 0);
                for (int i = 0; i < team.size / parts; i++) {
                    position = position.plus(new Vector(i & 3, 1));
                    shelf.keep(i, position);
                    if (i % 3 == 0) {
                        int[] small = new int[1 + (i & 7)];
                        small[i & small.length - 1 & 7] = i;
                        shelf.keep(i + 1, small);
                        sum += small[0];
                    }
                }
                sums[part] = sum + (long) position.x + (long) position.y;
            }
        });
        long sum = 0;
        for (long each : sums) {
            sum = sum * 31 + each;
        }
        System.out.println(sum);
    }
}
