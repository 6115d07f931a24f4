package bench;

/** Successive over-relaxation on a square grid, red and black points by turns. */
public final class Sor {
    private static final int ROUNDS = 800;
    private static final double OMEGA = 1.25;

    private Sor() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 1_500);
        int n = team.size;
        double[][] grid = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                grid[i][j] = Team.fraction(i * n + j);
            }
        }
        team.run(me -> {
            int from = Math.max(1, team.from(me, n));
            int to = Math.min(n - 1, team.from(me + 1, n));
            for (int half = 0; half < 2 * ROUNDS; half++) {
                for (int i = from; i < to; i++) {
                    relax(grid, i, 1 + (i + half) % 2);
                }
                team.meet();
            }
        });
        double sum = 0;
        for (double[] row : grid) {
            for (double value : row) {
                sum += value;
            }
        }
        System.out.println(Math.round(sum * 1000));
    }

    private static void relax(double[][] grid, int i, int first) {
        double[] above = grid[i - 1];
        double[] row = grid[i];
        double[] below = grid[i + 1];
        for (int j = first; j < row.length - 1; j += 2) {
            double mean = (above[j] + below[j] + row[j - 1] + row[j + 1]) * 0.25;
            row[j] += OMEGA * (mean - row[j]);
        }
    }
}
