package org.photofinish.gradle;

import java.io.File;
import org.photofinish.build.ToolFailed;

/** Writes what the tests showed as a page (HTML), for code scanning (SARIF) and as JSON. */
public class PhotofinishReport extends PhotofinishTask {
    /** Where the files go, in a directory for each Test task. */
    File site;

    @Override
    void run() throws ToolFailed {
        for (String name : exercised()) {
            Object page = settings.jvms(name).report(settings.tool(), settings.base().toPath(), site.toPath().resolve(name));
            getLogger().lifecycle("what the tests showed: {}", page);
        }
    }
}
