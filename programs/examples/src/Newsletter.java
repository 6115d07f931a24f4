import java.util.ArrayList;
import java.util.List;

/**
 * A newsletter whose readers may sign up at any time. Signing up and mailing
 * run in different threads and share an ArrayList, which was never meant to be
 * shared: a mailing can miss a reader, meet a null, or read a stale length.
 */
public final class Newsletter {
    private final List<String> readers = new ArrayList<>();

    void subscribe(String reader) {
        readers.add(reader);
    }

    /** Mails everybody on the list and says how many that was. */
    int mail() {
        int sent = 0;
        for (int i = 0; i < readers.size(); i++) {
            String reader = readers.get(i);
            if (reader != null) {
                deliver();
                sent++;
            }
        }
        return sent;
    }

    /** Handing one letter to the mail server. */
    private static void deliver() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Newsletter letter = new Newsletter();
        letter.subscribe("ada@example.org");
        letter.subscribe("grace@example.org");

        Thread mailing = new Thread(letter::mail, "mailing");
        Thread signUp = new Thread(() -> letter.subscribe("barbara@example.org"), "sign-up");
        mailing.start();
        signUp.start();
        mailing.join();
        signUp.join();

        System.out.println(letter.mail() + " readers in the end");
    }
}
