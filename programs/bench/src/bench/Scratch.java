package bench;

/** Work on arrays and objects that never leave the method that makes them: distances of words, small matrices. */
public final class Scratch {
    private double sum;
    private int count;

    private Scratch() {}

    private void add(double value) {
        sum += value;
        count++;
    }

    public static void main(String[] args) {
        Team team = Team.of(args, 200_000);
        double[] means = new double[team.threads];
        team.run(me -> means[me] = work(team.from(me, team.size), team.from(me + 1, team.size)));
        double all = 0;
        for (double mean : means) {
            all += mean;
        }
        System.out.println(Math.round(all));
    }

    private static double work(int from, int to) {
        Scratch total = new Scratch();
        for (int n = from; n < to; n++) {
            total.add(distance(n, 7 * n + 3));
            total.add(trace(n));
        }
        return total.sum - total.count;
    }

    /** How many letters make one word into the other, by Levenshtein's table, two rows of it at a time. */
    private static int distance(int one, int other) {
        int length = 48;
        int[] above = new int[length + 1];
        int[] row = new int[length + 1];
        for (int j = 0; j <= length; j++) {
            above[j] = j;
        }
        for (int i = 1; i <= length; i++) {
            row[0] = i;
            for (int j = 1; j <= length; j++) {
                int change = letter(one, i) == letter(other, j) ? 0 : 1;
                row[j] = Math.min(above[j - 1] + change, Math.min(above[j], row[j - 1]) + 1);
            }
            int[] done = row;
            row = above;
            above = done;
        }
        return above[length];
    }

    private static int letter(int word, int at) {
        return (word * 31 + at * at) * 17 >>> 3 & 7;
    }

    private static double trace(int seed) {
        int n = 12;
        double[][] a = new double[n][n];
        double[][] square = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = seed + i * j & 15;
            }
        }
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) {
                for (int j = 0; j < n; j++) {
                    square[i][j] += a[i][k] * a[k][j];
                }
            }
        }
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += square[i][i];
        }
        return sum;
    }
}
