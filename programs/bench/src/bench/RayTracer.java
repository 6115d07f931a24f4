package bench;

/** Spheres under one light, a row of the image at a time: small vectors, made and used by the million. */
public final class RayTracer {
    private static final int DEEPEST = 4;

    private static final class Vec {
        double x;
        double y;
        double z;

        Vec(double x, double y, double z) {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        double dot(Vec other) {
            return x * other.x + y * other.y + z * other.z;
        }

        Vec plus(Vec other, double times) {
            return new Vec(x + times * other.x, y + times * other.y, z + times * other.z);
        }

        Vec unit() {
            double length = Math.sqrt(dot(this));
            return new Vec(x / length, y / length, z / length);
        }
    }

    private static final class Sphere {
        Vec centre;
        double square;
        double shine;
        double shade;

        Sphere(int n, int side) {
            centre = new Vec(2.5 * (n % side - side / 2.0), 2.5 * (n / side % side - side / 2.0), 8 + 2.5 * (n / side / side));
            square = 1;
            shine = 0.3 + 0.4 * Team.fraction(n);
            shade = 0.4 + 0.6 * Team.fraction(n + 1000);
        }

        /** How far along the ray it is met; 0 if it is not. */
        double meets(Vec from, Vec towards) {
            Vec way = centre.plus(from, -1);
            double along = way.dot(towards);
            double left = along * along - way.dot(way) + square;
            if (along < 0 || left < 0) {
                return 0;
            }
            double distance = along - Math.sqrt(left);
            return distance > 1e-6 ? distance : 0;
        }
    }

    private static final class Scene {
        Sphere[] spheres;
        Vec light = new Vec(-0.5, -0.7, -0.5).unit();

        Scene(int side) {
            spheres = new Sphere[side * side * side];
            for (int i = 0; i < spheres.length; i++) {
                spheres[i] = new Sphere(i, side);
            }
        }

        double trace(Vec from, Vec towards, int depth) {
            Sphere met = null;
            double nearest = Double.MAX_VALUE;
            for (Sphere sphere : spheres) {
                double distance = sphere.meets(from, towards);
                if (distance > 0 && distance < nearest) {
                    nearest = distance;
                    met = sphere;
                }
            }
            if (met == null) {
                return 0.1;
            }
            Vec point = from.plus(towards, nearest);
            Vec normal = point.plus(met.centre, -1).unit();
            double bright = Math.max(0, normal.dot(light)) * met.shade;
            if (depth < DEEPEST) {
                Vec mirrored = towards.plus(normal, -2 * towards.dot(normal)).unit();
                bright += met.shine * trace(point, mirrored, depth + 1);
            }
            return bright;
        }
    }

    private RayTracer() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 700);
        int n = team.size;
        Scene scene = new Scene(4);
        long[] sums = new long[n];
        team.run(me -> {
            Vec eye = new Vec(0, 0, -10);
            for (int row = me; row < n; row += team.threads) {
                for (int column = 0; column < n; column++) {
                    Vec towards = new Vec((column - n / 2.0) / n, (row - n / 2.0) / n, 1).unit();
                    sums[row] += Math.round(1000 * scene.trace(eye, towards, 0));
                }
            }
        });
        long sum = 0;
        for (long each : sums) {
            sum = sum * 31 + each;
        }
        System.out.println(sum);
    }
}
