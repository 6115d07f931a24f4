package bench;

/** Bodies that attract each other: objects with double fields, read by all, moved by their owner. */
public final class NBody {
    private static final int ROUNDS = 80;

    private static final class Body {
        double x;
        double y;
        double z;
        double vx;
        double vy;
        double vz;
        double mass;

        Body(int n) {
            x = Team.fraction(n * 4);
            y = Team.fraction(n * 4 + 1);
            z = Team.fraction(n * 4 + 2);
            mass = Team.fraction(n * 4 + 3) + 0.1;
        }

        void pull(Body other) {
            double dx = other.x - x;
            double dy = other.y - y;
            double dz = other.z - z;
            double square = dx * dx + dy * dy + dz * dz + 0.01;
            double force = other.mass / (square * Math.sqrt(square));
            vx += dx * force * 1e-4;
            vy += dy * force * 1e-4;
            vz += dz * force * 1e-4;
        }

        void move() {
            x += vx * 1e-2;
            y += vy * 1e-2;
            z += vz * 1e-2;
        }
    }

    private NBody() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 2_500);
        int n = team.size;
        Body[] bodies = new Body[n];
        for (int i = 0; i < n; i++) {
            bodies[i] = new Body(i);
        }
        team.run(me -> {
            int from = team.from(me, n);
            int to = team.from(me + 1, n);
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = from; i < to; i++) {
                    Body body = bodies[i];
                    for (Body other : bodies) {
                        body.pull(other);
                    }
                }
                team.meet();
                for (int i = from; i < to; i++) {
                    bodies[i].move();
                }
                team.meet();
            }
        });
        double energy = 0;
        for (Body body : bodies) {
            energy += body.mass * (body.vx * body.vx + body.vy * body.vy + body.vz * body.vz);
        }
        System.out.println(Math.round(energy * 1e9));
    }
}
