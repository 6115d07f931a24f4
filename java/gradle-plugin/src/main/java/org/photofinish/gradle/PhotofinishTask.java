package org.photofinish.gradle;

import java.util.ArrayList;
import java.util.List;
import org.gradle.api.DefaultTask;
import org.gradle.api.tasks.TaskAction;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;

/** What the tasks have in common. They have no declared inputs: they run whenever they are asked for. */
abstract class PhotofinishTask extends DefaultTask {
    Settings settings;
    /** The names of the Test tasks that they look at. */
    final List<String> testTasks = new ArrayList<>();

    /** Those of whose JVMs something is left. */
    final List<String> exercised() throws ToolFailed {
        List<String> exercised = new ArrayList<>();
        for (String name : testTasks) {
            Jvms jvms = settings.jvms(name);
            if (!jvms.isEmpty()) exercised.add(name);
        }
        return exercised;
    }

    @TaskAction
    public final void ask() {
        try {
            run();
        } catch (ToolFailed e) {
            throw Settings.failed(e);
        }
    }

    abstract void run() throws ToolFailed;
}
