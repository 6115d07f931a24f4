/** An object that is handed over without order: its field may be seen before it was written. */
public class Publication {
    static class Point {
        int x;

        Point(int x) {
            this.x = x;
        }
    }

    static class Fixed {
        final int x;

        Fixed(int x) {
            this.x = x;
        }
    }

    static Point shared;
    static Fixed frozen;

    static void plain() {
        Point point = shared;
        if (point != null && point.x != 42) throw new IllegalStateException("half-built: " + point.x);
    }

    static void fixed() {
        Fixed point = frozen;
        if (point != null && point.x != 42) throw new IllegalStateException("half-built: " + point.x);
    }

    /** With "final" the field is final, and all is well. */
    public static void main(String[] args) throws InterruptedException {
        boolean isFinal = args.length > 0 && args[0].equals("final");
        Thread reader = new Thread(isFinal ? Publication::fixed : Publication::plain, "reader");
        reader.start();
        if (isFinal) frozen = new Fixed(42);
        else shared = new Point(42);
        reader.join();
        System.out.println("done");
    }
}
