/** As little as a class can be. */
interface Small {
    int SIZE = Integer.getInteger("size", 70000);

    default int twice(int n) {
        return n * 2;
    }
}
