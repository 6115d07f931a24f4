package org.photofinish.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;

/**
 * The class path of a project's tests, with what it takes to run one of them by JUnit's launcher: projects
 * leave launcher and engines to Surefire, which adds them in the version of their JUnit; so is it here.
 */
final class TestClassPath {
    /** Runs tests of JUnit 4, where the project has no JUnit 5 to say a version. */
    private static final String VINTAGE = "5.10.5";

    private final MavenProject project;
    private final RepositorySystem repositories;
    private final RepositorySystemSession session;

    TestClassPath(MavenProject project, RepositorySystem repositories, RepositorySystemSession session) {
        this.project = project;
        this.repositories = repositories;
        this.session = session;
    }

    /** Null if the project has no JUnit. {@code runner}: the jar that runs one test. */
    String find(File runner) throws MojoExecutionException {
        Set<String> entries = new LinkedHashSet<>();
        try {
            entries.addAll(project.getTestClasspathElements());
        } catch (DependencyResolutionRequiredException e) {
            throw new MojoExecutionException("the class path of the tests is not known", e);
        }
        List<String> wanted = new ArrayList<>();
        String jupiter = version("org.junit.jupiter", "junit-jupiter-api");
        String four = version("junit", "junit");
        String vintage = jupiter == null ? VINTAGE : jupiter;
        if (jupiter == null && four == null) return null;
        if (jupiter != null) wanted.add("org.junit.jupiter:junit-jupiter-engine:" + jupiter);
        if (four != null) wanted.add("org.junit.vintage:junit-vintage-engine:" + vintage);
        wanted.add("org.junit.platform:junit-platform-launcher:" + platform(vintage));
        for (String one : wanted) entries.addAll(resolve(one));
        entries.add(runner.getPath());
        return String.join(File.pathSeparator, entries);
    }

    /** The JUnit platform that belongs to a JUnit: 1.10.5 to 5.10.5, and the same from 6 on. */
    private static String platform(String junit) {
        return junit.startsWith("5.") ? "1." + junit.substring(2) : junit;
    }

    private String version(String group, String artifact) {
        for (Artifact one : project.getArtifacts()) {
            if (one.getGroupId().equals(group) && one.getArtifactId().equals(artifact)) return one.getVersion();
        }
        return null;
    }

    private List<String> resolve(String coordinates) throws MojoExecutionException {
        CollectRequest collect = new CollectRequest();
        collect.setRoot(new Dependency(new DefaultArtifact(coordinates), "runtime"));
        collect.setRepositories(project.getRemoteProjectRepositories());
        try {
            List<String> files = new ArrayList<>();
            DependencyRequest request = new DependencyRequest(collect, null);
            for (ArtifactResult result : repositories.resolveDependencies(session, request).getArtifactResults()) {
                files.add(result.getArtifact().getFile().getPath());
            }
            return files;
        } catch (DependencyResolutionException e) {
            throw new MojoExecutionException("cannot get " + coordinates + ", which runs the tests", e);
        }
    }
}
