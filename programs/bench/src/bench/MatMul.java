package bench;

/** Product of two dense square matrices, rows shared out: reads of shared arrays, writes of own rows. */
public final class MatMul {
    private MatMul() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 1_800);
        int n = team.size;
        double[][] a = matrix(n, 1);
        double[][] b = matrix(n, 2);
        double[][] c = new double[n][n];
        team.run(me -> {
            for (int i = team.from(me, n); i < team.from(me + 1, n); i++) {
                double[] row = c[i];
                for (int k = 0; k < n; k++) {
                    double factor = a[i][k];
                    double[] other = b[k];
                    for (int j = 0; j < n; j++) {
                        row[j] += factor * other[j];
                    }
                }
            }
        });
        double trace = 0;
        for (int i = 0; i < n; i++) {
            trace += c[i][i];
        }
        System.out.println(Math.round(trace));
    }

    private static double[][] matrix(int n, int seed) {
        double[][] m = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                m[i][j] = Team.fraction((i * n + j) * 3 + seed);
            }
        }
        return m;
    }
}
