package org.photofinish.maven;

import java.io.File;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.photofinish.build.ToolFailed;

/** Writes what the tests showed as a page (HTML), for code scanning (SARIF) and as JSON. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends PhotofinishMojo {
    /** Where the files go. */
    @Parameter(property = "photofinish.site", defaultValue = "${project.build.directory}/site/photofinish")
    private File site;

    @Override
    void run() throws ToolFailed {
        if (jvms().isEmpty()) return;
        getLog().info("what the tests showed: " + jvms().report(tool(), base(), site.toPath()));
    }
}
