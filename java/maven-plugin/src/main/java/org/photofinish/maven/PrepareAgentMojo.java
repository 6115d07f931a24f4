package org.photofinish.maven;

import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.photofinish.build.ToolFailed;

/**
 * Gives the JVMs that run the tests the agent, by the property {@code argLine}, which Surefire and
 * Failsafe add to their command lines. What is in it already stays: JaCoCo's agent, for example.
 */
@Mojo(name = "prepare-agent", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareAgentMojo extends PhotofinishMojo {
    /** The property that is set. */
    @Parameter(property = "photofinish.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    void run() throws ToolFailed {
        jvms().clear();
        List<String> list = jvms().options(tool());
        String options = list.stream().map(PrepareAgentMojo::quoted).collect(Collectors.joining(" "));
        Properties properties = project.getProperties();
        String before = properties.getProperty(propertyName);
        String after = before == null || before.isBlank() ? options : options + " " + before;
        properties.setProperty(propertyName, after);
        getLog().info(propertyName + " set to " + after);
    }

    private static String quoted(String option) {
        return option.contains(" ") ? "'" + option + "'" : option;
    }
}
