package org.photofinish.gradle;

import java.io.File;

/** What a build script may say in {@code photofinish { ... }}. */
public class PhotofinishExtension {
    private boolean enabled = true;
    private File binary;
    private File baseline;
    private File suppress;
    private String failOn = "predicted";
    private boolean failIfNotExercised;
    private String test = "*";
    private long seconds = 600;
    private String options;
    private boolean failIfFound = true;

    /** Whether the JVMs of the tests get the agent. */
    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** The photofinish to use instead of the one in the plugin. */
    public File getBinary() {
        return binary;
    }

    public void setBinary(File binary) {
        this.binary = binary;
    }

    /** A result (JSON) of an earlier build: what is known does not fail this one. */
    public File getBaseline() {
        return baseline;
    }

    public void setBaseline(File baseline) {
        this.baseline = baseline;
    }

    /** File of known races with their reasons. */
    public File getSuppress() {
        return suppress;
    }

    public void setSuppress(File suppress) {
        this.suppress = suppress;
    }

    /** From which status on a race fails the build: potential, predicted, observed, confirmed. */
    public String getFailOn() {
        return failOn;
    }

    public void setFailOn(String failOn) {
        this.failOn = failOn;
    }

    /** Whether tests that start no thread fail the build. */
    public boolean isFailIfNotExercised() {
        return failIfNotExercised;
    }

    public void setFailIfNotExercised(boolean failIfNotExercised) {
        this.failIfNotExercised = failIfNotExercised;
    }

    /** Of photofinishHunt: which tests, a pattern in which * stands for anything. */
    public String getTest() {
        return test;
    }

    public void setTest(String test) {
        this.test = test;
    }

    /** Of photofinishHunt: seconds for all tests together. */
    public long getSeconds() {
        return seconds;
    }

    public void setSeconds(long seconds) {
        this.seconds = seconds;
    }

    /** Of photofinishHunt: further options of {@code photofinish hunt}, separated by spaces. */
    public String getOptions() {
        return options;
    }

    public void setOptions(String options) {
        this.options = options;
    }

    /** Of photofinishHunt: whether the build fails if something is found. */
    public boolean isFailIfFound() {
        return failIfFound;
    }

    public void setFailIfFound(boolean failIfFound) {
        this.failIfFound = failIfFound;
    }
}
