package bench;

/** LU factorisation with row pivoting; all meet after each column. */
public final class Lu {
    private Lu() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 2_500);
        int n = team.size;
        double[][] a = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = Team.fraction(i * n + j) - 0.5;
            }
        }
        team.run(me -> {
            for (int k = 0; k < n - 1; k++) {
                if (me == 0) {
                    pivot(a, k);
                }
                team.meet();
                eliminate(a, k, k + 1 + team.from(me, n - k - 1), k + 1 + team.from(me + 1, n - k - 1));
                team.meet();
            }
        });
        double log = 0;
        for (int i = 0; i < n; i++) {
            log += Math.log(Math.abs(a[i][i]));
        }
        System.out.println(Math.round(log * 1000));
    }

    private static void pivot(double[][] a, int k) {
        int best = k;
        for (int i = k + 1; i < a.length; i++) {
            if (Math.abs(a[i][k]) > Math.abs(a[best][k])) {
                best = i;
            }
        }
        double[] row = a[k];
        a[k] = a[best];
        a[best] = row;
    }

    private static void eliminate(double[][] a, int k, int from, int to) {
        double[] top = a[k];
        for (int i = from; i < to; i++) {
            double[] row = a[i];
            double factor = row[k] / top[k];
            row[k] = factor;
            for (int j = k + 1; j < row.length; j++) {
                row[j] -= factor * top[j];
            }
        }
    }
}
