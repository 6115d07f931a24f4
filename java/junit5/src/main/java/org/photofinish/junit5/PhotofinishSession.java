package org.photofinish.junit5;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Makes JUnit register {@link PhotofinishExtension} for all tests, if the agent is there. JUnit looks
 * for extensions by ServiceLoader only where it is told to; where the user has not, we do, for this
 * extension alone (older versions than 5.11 have no such filter and take all that they find).
 */
public final class PhotofinishSession implements LauncherSessionListener {
    private static final String ENABLED = "junit.jupiter.extensions.autodetection.enabled";
    private static final String INCLUDE = "junit.jupiter.extensions.autodetection.include";

    /** By name: where tests are JUnit 4's alone, the class cannot be loaded. */
    private static final String EXTENSION = "org.photofinish.junit5.PhotofinishExtension";

    /** Whether we set the properties, and must take them away. */
    private boolean ours;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        if (Agent.isThere() && System.getProperty(ENABLED) == null) {
            ours = true;
            System.setProperty(ENABLED, "true");
            System.setProperty(INCLUDE, EXTENSION);
        }
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        if (ours) {
            System.clearProperty(ENABLED);
            System.clearProperty(INCLUDE);
        }
    }
}
