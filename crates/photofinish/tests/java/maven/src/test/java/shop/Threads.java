package shop;

class Threads {
    static void both(Runnable a, Runnable b) throws InterruptedException {
        Thread first = new Thread(a);
        Thread second = new Thread(b);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
