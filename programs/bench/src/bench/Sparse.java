package bench;

/** Repeated product of a sparse matrix, in compressed rows, with a vector: indirect reads. */
public final class Sparse {
    private static final int PER_ROW = 5;
    private static final int ROUNDS = 1_200;

    private Sparse() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 200_000);
        int n = team.size;
        int[] starts = new int[n + 1];
        int[] columns = new int[n * PER_ROW];
        double[] values = new double[n * PER_ROW];
        long seed = 42;
        for (int k = 0; k < columns.length; k++) {
            seed = Team.next(seed);
            columns[k] = (int) Math.floorMod(seed, (long) n);
            values[k] = Team.fraction(k) / PER_ROW;
        }
        for (int i = 0; i <= n; i++) {
            starts[i] = i * PER_ROW;
        }
        double[][] vectors = new double[2][n];
        for (int i = 0; i < n; i++) {
            vectors[0][i] = Team.fraction(i);
        }
        team.run(me -> {
            for (int round = 0; round < ROUNDS; round++) {
                double[] in = vectors[round % 2];
                double[] out = vectors[1 - round % 2];
                for (int i = team.from(me, n); i < team.from(me + 1, n); i++) {
                    double sum = 1;
                    for (int k = starts[i]; k < starts[i + 1]; k++) {
                        sum += values[k] * in[columns[k]];
                    }
                    out[i] = sum;
                }
                team.meet();
            }
        });
        double sum = 0;
        for (double value : vectors[0]) {
            sum += value;
        }
        System.out.println(Math.round(sum));
    }
}
