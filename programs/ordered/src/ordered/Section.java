package ordered;

/** One way of ordering two accesses. A fresh instance is made for each round. */
interface Section {
    void run() throws Exception;
}
