package org.photofinish.gradle;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.gradle.api.GradleException;
import org.photofinish.build.Binary;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;
import org.photofinish.build.Verdict;

/** Fails the build if the tests raced; with a baseline, only on what is new. */
public class PhotofinishCheck extends PhotofinishTask {
    String failOn;
    File baseline;
    File suppress;
    boolean failIfNotExercised;

    @Override
    void run() throws ToolFailed {
        List<String> exercised = exercised();
        if (exercised.isEmpty()) notExercised("no test ran under photofinish");
        Jvms.Rules rules = new Jvms.Rules(failOn, baseline, suppress);
        for (String name : exercised) {
            Path result = settings.directory().toPath().resolve(name + ".json");
            Binary.Done done = settings.jvms(name).check(settings.tool(), rules, settings.base().toPath(), result);
            String said = done.output().trim();
            switch (Verdict.of(done.code())) {
                case NOTHING_FOUND -> getLogger().lifecycle(said);
                case NOT_EXERCISED -> notExercised(said);
                case FOUND -> throw new GradleException("the tests raced:\n\n" + said);
                default -> throw new GradleException("no answer (photofinish ended with " + done.code() + "):\n" + said);
            }
        }
    }

    private void notExercised(String text) {
        if (failIfNotExercised) throw new GradleException(text);
        getLogger().warn(text);
    }
}
