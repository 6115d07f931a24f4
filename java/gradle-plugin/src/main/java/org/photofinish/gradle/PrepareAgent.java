package org.photofinish.gradle;

import java.io.Serializable;
import org.gradle.api.Action;
import org.gradle.api.Task;
import org.gradle.api.tasks.testing.Test;
import org.photofinish.build.Jvms;
import org.photofinish.build.ToolFailed;

/** Gives the JVMs of a Test task the agent, right before it starts them. What they get already stays. */
final class PrepareAgent implements Action<Task>, Serializable {
    private static final long serialVersionUID = 1;

    private final Settings settings;

    PrepareAgent(Settings settings) {
        this.settings = settings;
    }

    @Override
    public void execute(Task task) {
        Jvms jvms = settings.jvms(task.getName());
        try {
            jvms.clear();
            ((Test) task).jvmArgs(jvms.options(settings.tool()));
        } catch (ToolFailed e) {
            throw Settings.failed(e);
        }
    }
}
