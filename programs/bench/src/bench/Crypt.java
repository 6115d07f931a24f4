package bench;

/** IDEA encryption and decryption of a byte array, blocks shared out: bytes in and out, a small table of keys. */
public final class Crypt {
    private static final int ROUNDS = 8;
    private static final int KEYS = 6 * ROUNDS + 4;
    private static final int BLOCK = 8;

    private Crypt() {}

    public static void main(String[] args) {
        Team team = Team.of(args, 60_000_000);
        int blocks = team.size / BLOCK;
        byte[] plain = new byte[blocks * BLOCK];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) (i * 31 + (i >> 8));
        }
        byte[] secret = new byte[plain.length];
        byte[] again = new byte[plain.length];
        int[] encrypting = schedule(0x1234_5678_9ABCL);
        int[] decrypting = inverse(encrypting);
        run(team, plain, secret, encrypting);
        run(team, secret, again, decrypting);
        long sum = 0;
        for (int i = 0; i < plain.length; i++) {
            if (plain[i] != again[i]) {
                throw new IllegalStateException("differs at " + i);
            }
            sum = sum * 31 + secret[i];
        }
        System.out.println(sum);
    }

    private static void run(Team team, byte[] from, byte[] to, int[] keys) {
        int blocks = from.length / BLOCK;
        team.run(me -> cipher(from, to, keys, team.from(me, blocks), team.from(me + 1, blocks)));
    }

    private static void cipher(byte[] from, byte[] to, int[] keys, int first, int end) {
        int in = first * BLOCK;
        int out = in;
        for (int block = first; block < end; block++) {
            int a = from[in++] & 0xff | (from[in++] & 0xff) << 8;
            int b = from[in++] & 0xff | (from[in++] & 0xff) << 8;
            int c = from[in++] & 0xff | (from[in++] & 0xff) << 8;
            int d = from[in++] & 0xff | (from[in++] & 0xff) << 8;
            int k = 0;
            for (int round = 0; round < ROUNDS; round++) {
                a = times(a, keys[k++]);
                b = b + keys[k++] & 0xffff;
                c = c + keys[k++] & 0xffff;
                d = times(d, keys[k++]);
                int e = times(a ^ c, keys[k++]);
                int f = times((b ^ d) + e & 0xffff, keys[k++]);
                e = e + f & 0xffff;
                a ^= f;
                d ^= e;
                int swap = b ^ e;
                b = c ^ f;
                c = swap;
            }
            a = times(a, keys[k++]);
            int middle = b;
            b = c + keys[k++] & 0xffff;
            c = middle + keys[k++] & 0xffff;
            d = times(d, keys[k++]);
            to[out++] = (byte) a;
            to[out++] = (byte) (a >> 8);
            to[out++] = (byte) b;
            to[out++] = (byte) (b >> 8);
            to[out++] = (byte) c;
            to[out++] = (byte) (c >> 8);
            to[out++] = (byte) d;
            to[out++] = (byte) (d >> 8);
        }
    }

    /** Product modulo 65537, where 0 stands for 65536. */
    private static int times(int a, int b) {
        long x = a == 0 ? 0x10000 : a;
        long y = b == 0 ? 0x10000 : b;
        return (int) (x * y % 0x10001) & 0xffff;
    }

    private static int[] schedule(long seed) {
        int[] keys = new int[KEYS];
        long state = seed;
        for (int i = 0; i < KEYS; i++) {
            state = Team.next(state);
            keys[i] = (int) (state >>> 40) & 0xffff;
        }
        return keys;
    }

    private static int[] inverse(int[] keys) {
        int[] back = new int[KEYS];
        for (int round = 0; round <= ROUNDS; round++) {
            int to = 6 * round;
            int from = 6 * (ROUNDS - round);
            boolean outer = round == 0 || round == ROUNDS;
            back[to] = reciprocal(keys[from]);
            back[to + 1] = -keys[from + (outer ? 1 : 2)] & 0xffff;
            back[to + 2] = -keys[from + (outer ? 2 : 1)] & 0xffff;
            back[to + 3] = reciprocal(keys[from + 3]);
            if (round < ROUNDS) {
                back[to + 4] = keys[from - 2];
                back[to + 5] = keys[from - 1];
            }
        }
        return back;
    }

    /** By Fermat: a to the power of 65535, modulo 65537. */
    private static int reciprocal(int a) {
        int result = 1;
        for (int i = 0; i < 0xffff; i++) {
            result = times(result, a);
        }
        return result;
    }
}
