package bench;

/** Linked lists, built, sorted by merging and summed over and over: loads that depend on each other. */
public final class Linked {
    private static final int LENGTH = 2_000;

    private static final class Cell {
        long value;
        Cell next;

        Cell(long value, Cell next) {
            this.value = value;
            this.next = next;
        }
    }

    private Linked() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 15_000);
        long[] sums = new long[team.size];
        team.run(me -> {
            for (int round = team.from(me, team.size); round < team.from(me + 1, team.size); round++) {
                Cell list = null;
                long seed = round + 1;
                for (int i = 0; i < LENGTH; i++) {
                    seed = Team.next(seed);
                    list = new Cell(seed & 0xFFFF, list);
                }
                long sum = 0;
                int place = 0;
                for (Cell cell = sort(list, LENGTH); cell != null; cell = cell.next) {
                    sum += cell.value * ++place;
                }
                sums[round] = sum;
            }
        });
        long sum = 0;
        for (long each : sums) {
            sum = sum * 31 + each;
        }
        System.out.println(sum);
    }

    /** Sorts the first n cells and cuts them off from the rest. */
    private static Cell sort(Cell list, int n) {
        if (n == 1) {
            list.next = null;
            return list;
        }
        Cell middle = list;
        for (int i = 0; i < n / 2; i++) {
            middle = middle.next;
        }
        Cell right = sort(middle, n - n / 2);
        return merge(sort(list, n / 2), right);
    }

    private static Cell merge(Cell a, Cell b) {
        Cell head = new Cell(0, null);
        Cell last = head;
        while (a != null && b != null) {
            if (a.value <= b.value) {
                last.next = a;
                a = a.next;
            } else {
                last.next = b;
                b = b.next;
            }
            last = last.next;
        }
        last.next = a != null ? a : b;
        return head.next;
    }
}
