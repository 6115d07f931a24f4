import java.util.Arrays;

/** One thread copies a hundred elements, another uses one of them, or one that is not among them. */
final class Copies {
    static int[] data = new int[200];
    static int[] other = new int[200];

    private static void copies(String how) {
        switch (how) {
            case "from":
            case "apart":
                System.arraycopy(data, 0, other, 0, 100);
                break;
            case "to":
                System.arraycopy(other, 0, data, 0, 100);
                break;
            case "clone":
                other = data.clone();
                break;
            case "copyOf":
                other = Arrays.copyOf(data, 100);
                break;
            case "fill":
                Arrays.fill(data, 0, 100, 7);
                break;
            case "both":
                System.arraycopy(data, 0, other, 0, 100);
                break;
            default:
                throw new IllegalArgumentException(how);
        }
    }

    private static void uses(String how) {
        switch (how) {
            case "to":
            case "fill":
                System.out.println(data[70]);
                break;
            case "apart":
                data[100] = 1;
                break;
            case "both":
                System.arraycopy(other, 100, data, 90, 20);
                break;
            default:
                data[70] = 1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> copies(args[0]));
        thread.start();
        uses(args[0]);
        thread.join();
    }
}
