package org.photofinish.build;

/** What an exit code of the tool means; docs/ci.md has the table. */
public enum Verdict {
    NOTHING_FOUND("nothing found"),
    NOT_EXERCISED("starts no thread"),
    FOUND("FOUND something"),
    NO_ANSWER("no answer in its time"),
    FAILED("the tool failed");

    private final String text;

    Verdict(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }

    public static Verdict of(int code) {
        return switch (code) {
            case 0 -> NOTHING_FOUND;
            case 4 -> NOT_EXERCISED;
            case 66 -> FOUND;
            case 75 -> NO_ANSWER;
            default -> FAILED;
        };
    }
}
