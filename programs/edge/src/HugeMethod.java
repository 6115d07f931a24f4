/**
 * A method close to the limit of 64 KiB that a class file sets, so that nothing can
 * be added to it. The compiler copies the body of each finally block to every way
 * out of its try block: nested ones double each time.
 */
public final class HugeMethod {
    private int count;
    private final int[] cells = new int[8];

    private void huge(int n) {
        try {
            step(n);
        } finally {
            try {
                count++;
            } finally {
                try {
                    cells[0] += n;
                } finally {
                    try {
                        count += n;
                    } finally {
                        try {
                            cells[1]++;
                        } finally {
                            try {
                                count ^= 1;
                            } finally {
                                try {
                                    cells[2] += count;
                                } finally {
                                    try {
                                        count += 2;
                                    } finally {
                                        try {
                                            cells[3] ^= n;
                                        } finally {
                                            try {
                                                count += cells[3];
                                            } finally {
                                                cells[4] += count;
                                                cells[5] -= cells[4];
                                                count--;
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /** Small, and called from the huge one: what it does is seen. */
    private void step(int n) {
        if (n % 3 == 0) {
            throw new IllegalArgumentException("thrice " + n / 3);
        }
        cells[6]++;
    }

    public static void main(String[] args) throws InterruptedException {
        HugeMethod it = new HugeMethod();
        Thread thread = new Thread(() -> {
            for (int n = 1; n <= 10; n++) {
                try {
                    it.huge(n);
                } catch (IllegalArgumentException e) {
                    System.out.println(e.getMessage());
                }
            }
        });
        thread.start();
        thread.join();
        long sum = it.count;
        for (int cell : it.cells) {
            sum = sum * 31 + cell;
        }
        System.out.println("sum " + sum);
    }
}
