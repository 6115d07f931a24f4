package bench;

/** Prices of an asset along random paths: each task makes objects and arrays of its own and hands a result over. */
public final class MonteCarlo {
    private static final int STEPS = 1_000;

    /** A random walk of returns. */
    private static final class Walk {
        private final double[] returns = new double[STEPS];
        private final double drift;
        private final double volatility;
        private long seed;

        Walk(long seed, double drift, double volatility) {
            this.seed = Team.next(seed * 0x9E3779B97F4A7C15L + 1);
            this.drift = drift;
            this.volatility = volatility;
        }

        /** Two numbers of a normal distribution at a time, by the polar method. */
        void fill() {
            for (int i = 0; i < STEPS; i += 2) {
                double x;
                double y;
                double square;
                do {
                    x = 2 * next() - 1;
                    y = 2 * next() - 1;
                    square = x * x + y * y;
                } while (square >= 1 || square == 0);
                double scale = Math.sqrt(-2 * Math.log(square) / square);
                returns[i] = drift + volatility * x * scale;
                returns[i + 1] = drift + volatility * y * scale;
            }
        }

        private double next() {
            seed = Team.next(seed);
            return (seed >>> 11) * 0x1p-53;
        }

        double[] prices(double start) {
            double[] prices = new double[STEPS + 1];
            prices[0] = start;
            for (int i = 0; i < STEPS; i++) {
                prices[i + 1] = prices[i] * Math.exp(returns[i]);
            }
            return prices;
        }
    }

    private static final class Result {
        private double last;
        private double highest;
        private double mean;

        void take(double[] prices) {
            double sum = 0;
            for (double price : prices) {
                sum += price;
                highest = Math.max(highest, price);
            }
            mean = sum / prices.length;
            last = prices[prices.length - 1];
        }
    }

    private MonteCarlo() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 60_000);
        int tasks = team.size;
        Result[] results = new Result[tasks];
        team.run(me -> {
            for (int task = me; task < tasks; task += team.threads) {
                Walk walk = new Walk(task, 1e-4, 0.01);
                walk.fill();
                Result result = new Result();
                result.take(walk.prices(100));
                results[task] = result;
            }
        });
        double sum = 0;
        for (Result result : results) {
            sum += result.last + result.highest + result.mean;
        }
        System.out.println(Math.round(sum * 1000 / tasks));
    }
}
