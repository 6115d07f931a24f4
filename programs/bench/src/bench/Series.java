package bench;

/** Fourier coefficients of x^2 + x + 1 on [0, 2], by the trapezoid rule: much arithmetic, few accesses. */
public final class Series {
    private static final int STEPS = 400;

    private Series() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 200_000);
        double[][] coefficients = new double[2][team.size];
        team.run(me -> {
            for (int n = team.from(me, team.size); n < team.from(me + 1, team.size); n++) {
                coefficients[0][n] = integrate(n, true);
                coefficients[1][n] = integrate(n, false);
            }
        });
        double sum = 0;
        for (int n = 0; n < team.size; n++) {
            sum += coefficients[0][n] + coefficients[1][n] / (n + 1);
        }
        System.out.println(Math.round(sum * 1e6));
    }

    private static double integrate(int n, boolean even) {
        double width = 2.0 / STEPS;
        double sum = 0;
        for (int i = 0; i <= STEPS; i++) {
            double x = i * width;
            double angle = Math.PI * n * x;
            double y = (x * x + x + 1) * (even ? Math.cos(angle) : Math.sin(angle));
            sum += i == 0 || i == STEPS ? y / 2 : y;
        }
        return sum * width;
    }
}
