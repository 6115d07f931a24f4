/** Races on a field, and dies of an exception whose message would be a script on a page that took it for markup. */
public class Scripts {
    static int count;

    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(() -> {
            count++;
            throw new IllegalStateException("</script><img src=x onerror=\"document.title='pwned'\">\u202e");
        }, "<b>other</b>");
        other.start();
        count++;
        other.join();
    }
}
