package org.photofinish.gradle;

import java.io.File;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.tasks.testing.Test;

/**
 * Gives the JVMs of all Test tasks the agent, and adds tasks that judge, show and look further than what the
 * tests happened to do. Only what Gradle has had since 4.4 is used, so that one plugin serves old builds and
 * new ones.
 */
public final class PhotofinishPlugin implements Plugin<Project> {
    private static final String GROUP = "verification";

    @Override
    public void apply(Project project) {
        PhotofinishExtension said = project.getExtensions().create("photofinish", PhotofinishExtension.class);
        PhotofinishReport report = task(project, "photofinishReport", PhotofinishReport.class);
        report.setDescription("Writes the races of the tests as a page, SARIF and JSON.");
        PhotofinishCheck check = task(project, "photofinishCheck", PhotofinishCheck.class);
        check.setDescription("Fails if the tests raced.");
        PhotofinishHunt hunt = task(project, "photofinishHunt", PhotofinishHunt.class);
        hunt.setDescription("Looks for races, deadlocks and failures in other schedules of each test.");
        // What the build script says is known after it was read.
        project.afterEvaluate(evaluated -> {
            if (said.isEnabled() && !project.hasProperty("photofinish.skip")) configure(project, said, report, check, hunt);
        });
    }

    private static <T extends PhotofinishTask> T task(Project project, String name, Class<T> type) {
        T task = project.getTasks().create(name, type);
        task.setGroup(GROUP);
        return task;
    }

    private static void configure(
            Project project,
            PhotofinishExtension said,
            PhotofinishReport report,
            PhotofinishCheck check,
            PhotofinishHunt hunt) {
        Settings settings = new Settings(
                said.getBinary(), new File(project.getBuildDir(), "photofinish"), project.getProjectDir());
        File site = new File(project.getBuildDir(), "reports/photofinish");
        report.settings = settings;
        report.site = site;
        check.settings = settings;
        check.failOn = said.getFailOn();
        check.baseline = said.getBaseline();
        check.suppress = said.getSuppress();
        check.failIfNotExercised = said.isFailIfNotExercised();
        hunt.settings = settings;
        hunt.projectName = project.getName();
        hunt.test = said.getTest();
        hunt.seconds = said.getSeconds();
        hunt.options = said.getOptions();
        hunt.failIfFound = said.isFailIfFound();
        hunt.site = new File(site, "hunt");
        project.getTasks().withType(Test.class, test -> watch(test, settings, report, check));
        if (project.getTasks().findByName("test") instanceof Test test) {
            check.dependsOn(test);
            hunt.classPath = test.getClasspath();
            hunt.testClasses = test.getTestClassesDirs();
            hunt.dependsOn("testClasses");
        }
        if (project.getTasks().findByName("check") != null) project.getTasks().getByName("check").dependsOn(check);
    }

    private static void watch(Test test, Settings settings, PhotofinishReport report, PhotofinishCheck check) {
        test.doFirst(new PrepareAgent(settings));
        // Tests that ran without the agent are not up to date, and what its JVMs left is theirs.
        test.getInputs().property("photofinish", true);
        test.getOutputs().dir(settings.jvms(test.getName()).directory().toFile());
        report.testTasks.add(test.getName());
        check.testTasks.add(test.getName());
        check.mustRunAfter(test);
        // Also when tests have failed: the extension for JUnit fails those that raced.
        test.finalizedBy(report);
    }
}
