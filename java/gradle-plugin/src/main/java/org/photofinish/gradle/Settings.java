package org.photofinish.gradle;

import java.io.File;
import java.io.Serializable;
import org.gradle.api.GradleException;
import org.photofinish.build.Binary;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;

/**
 * What tasks need of a project. They keep this and no project, so that Gradle can store them in its
 * configuration cache.
 *
 * @param directory where everything is kept: the binary, and what each Test task left
 */
record Settings(File binary, File directory, File base) implements Serializable {
    Binary tool() throws ToolFailed {
        return Binary.find(binary == null ? null : binary.toPath(), directory.toPath());
    }

    /** What the JVMs of a Test task leave. */
    Jvms jvms(String testTask) {
        return new Jvms(directory.toPath().resolve("jvms").resolve(testTask));
    }

    static GradleException failed(ToolFailed e) {
        return new GradleException(e.getMessage(), e);
    }
}
