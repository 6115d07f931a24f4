package org.photofinish.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Writes what the tests showed as a page (HTML), for code scanning (SARIF) and as JSON. */
@Mojo(name = "report", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class ReportMojo extends PhotofinishMojo {
    /** Where the files go. */
    @Parameter(property = "photofinish.site", defaultValue = "${project.build.directory}/site/photofinish")
    private File site;

    @Override
    public void execute() throws MojoExecutionException {
        if (skip || !hasJvms()) return;
        Path out = site.toPath();
        try {
            Files.createDirectories(out);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot make " + out, e);
        }
        Path page = out.resolve("index.html");
        String[] args = {
            "report", jvms().toString(), "--no-config", "--quiet",
            "--html", page.toString(),
            "--sarif", out.resolve("races.sarif").toString(),
            "--json", out.resolve("races.json").toString(),
        };
        Binary.Done done = tool().run(project.getBasedir().toPath(), args);
        if (!Files.exists(page)) throw new MojoExecutionException("no report: " + done.output().trim());
        getLog().info("what the tests showed: " + page);
    }
}
