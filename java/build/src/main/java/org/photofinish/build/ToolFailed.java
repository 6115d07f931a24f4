package org.photofinish.build;

/** The tool could not be run, or did not do what it was asked for. The message is for people. */
public final class ToolFailed extends Exception {
    private static final long serialVersionUID = 1;

    public ToolFailed(String message) {
        super(message);
    }

    public ToolFailed(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
