package bugs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Looking whether a synchronized list has something and taking it are two calls. */
public final class FirstOfList {
    private static final List<Integer> LIST =
            Collections.synchronizedList(new ArrayList<>(List.of(1)));

    public static void main(String[] args) {
        Bugs.together(FirstOfList::take, FirstOfList::take);
    }

    private static void take() {
        if (!LIST.isEmpty()) {
            LIST.remove(0);
        }
    }
}
