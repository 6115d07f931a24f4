package bench;

/** Argon atoms in a box under the Lennard-Jones potential: objects, and a row of forces for each member. */
public final class MolDyn {
    private static final int ROUNDS = 30;
    private static final double STEP = 1e-4;

    private static final class Atom {
        double x;
        double y;
        double z;
        double vx;
        double vy;
        double vz;

        Atom(int n, int side) {
            x = n % side + 0.1 * Team.fraction(3 * n);
            y = n / side % side + 0.1 * Team.fraction(3 * n + 1);
            z = n / side / side + 0.1 * Team.fraction(3 * n + 2);
        }

        /** Its force on all later atoms and theirs on it, into the arrays of one member. */
        void force(Atom[] all, int me, double cutoff, double[] fx, double[] fy, double[] fz) {
            double sumX = 0;
            double sumY = 0;
            double sumZ = 0;
            for (int i = me + 1; i < all.length; i++) {
                Atom other = all[i];
                double dx = x - other.x;
                double dy = y - other.y;
                double dz = z - other.z;
                double square = dx * dx + dy * dy + dz * dz;
                if (square < cutoff * cutoff) {
                    double inverse = 1 / square;
                    double sixth = inverse * inverse * inverse;
                    double pull = 48 * (sixth - 0.5) * sixth * inverse;
                    sumX += dx * pull;
                    sumY += dy * pull;
                    sumZ += dz * pull;
                    fx[i] -= dx * pull;
                    fy[i] -= dy * pull;
                    fz[i] -= dz * pull;
                }
            }
            fx[me] += sumX;
            fy[me] += sumY;
            fz[me] += sumZ;
        }

        void move(double fx, double fy, double fz) {
            vx += fx * STEP;
            vy += fy * STEP;
            vz += fz * STEP;
            x += vx * STEP;
            y += vy * STEP;
            z += vz * STEP;
        }
    }

    private MolDyn() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 16);
        int side = team.size;
        int n = side * side * side;
        Atom[] atoms = new Atom[n];
        for (int i = 0; i < n; i++) {
            atoms[i] = new Atom(i, side);
        }
        double[][][] forces = new double[team.threads][3][n];
        team.run(me -> {
            double[][] mine = forces[me];
            for (int round = 0; round < ROUNDS; round++) {
                for (double[] row : mine) {
                    java.util.Arrays.fill(row, 0);
                }
                for (int i = me; i < n; i += team.threads) {
                    atoms[i].force(atoms, i, 2.5, mine[0], mine[1], mine[2]);
                }
                team.meet();
                for (int i = team.from(me, n); i < team.from(me + 1, n); i++) {
                    double fx = 0;
                    double fy = 0;
                    double fz = 0;
                    for (double[][] each : forces) {
                        fx += each[0][i];
                        fy += each[1][i];
                        fz += each[2][i];
                    }
                    atoms[i].move(fx, fy, fz);
                }
                team.meet();
            }
        });
        double energy = 0;
        for (Atom atom : atoms) {
            energy += atom.vx * atom.vx + atom.vy * atom.vy + atom.vz * atom.vz;
        }
        System.out.println(Math.round(energy * 1e6));
    }
}
