package racy;

/** One race and nothing else. */
interface Section {
    void run() throws Exception;
}
