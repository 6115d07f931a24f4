//! One of several JVMs that a command starts: whether it is to be looked at, and its run
//! directory.
//!
//! A command such as `mvn test` starts JVMs of its own besides those that the user wants to
//! know about. The main class tells them apart, which the JVM knows before anything runs. A
//! JVM that is left alone gets no probes and goes on as if there were no agent; it is
//! written down all the same, so that the report can name it.

use encoding::names::glob;
use protocol::jvms::{DIRECTORY, Jvm, JvmsRequest, LeftAlone};
use protocol::{RunRequest, files};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The oldest Java that the agent is made for.
const MINIMUM: u32 = 17;

/// Main classes and jars of build tools and compilers. What these start to run tests is
/// not among them.
const BUILD_TOOLS: &[&str] = &[
    // Maven, its wrapper and its daemon.
    "org.codehaus.plexus.classworlds.launcher.Launcher",
    "org.codehaus.classworlds.Launcher",
    "org.apache.maven.cling.*",
    "org.apache.maven.wrapper.*",
    "maven-wrapper.jar",
    "org.mvndaemon.*",
    // Gradle: the client, the wrapper and the daemon.
    "org.gradle.launcher.*",
    "org.gradle.wrapper.*",
    "gradle-wrapper.jar",
    "gradle-*-main-*.jar",
    // sbt, Mill, Ant, Bazel.
    "xsbt.boot.Boot",
    "sbt-launch*.jar",
    "mill.*",
    "org.apache.tools.ant.launch.Launcher",
    "org.apache.tools.ant.Main",
    "com.google.devtools.build.*",
    // Compilers of other languages.
    "org.jetbrains.kotlin.daemon.*",
    "org.jetbrains.kotlin.cli.*",
    "scala.tools.nsc.*",
    "dotty.tools.*",
    "bloop.*",
    "org.codehaus.groovy.tools.*",
];

/// Gradle runs tests and compilers by the same main class, and says which in an argument.
const GRADLE_WORKER: &str = "worker.org.gradle.process.internal.worker.GradleWorkerMain";
const GRADLE_TESTS: &str = "Gradle Test Executor";

/// `java File.java`: the program is a source file.
const SOURCE_LAUNCHER: &str = "jdk.compiler/com.sun.tools.javac.launcher.";

/// What a JVM knows of itself.
#[derive(Debug)]
pub struct Facts {
    /// `sun.java.command`.
    pub command: String,
    /// `java.vm.specification.version`.
    pub version: String,
}

/// Writes down which JVM this is, below `root`; its run directory and what it is asked,
/// unless it is left alone.
pub fn enter(root: &Path, facts: Facts) -> Result<Option<(PathBuf, RunRequest)>, String> {
    let unreadable = |e: &dyn std::fmt::Display| format!("cannot use {}: {e}", root.display());
    let request = match std::fs::read(root.join(files::JVMS)) {
        Ok(bytes) => serde_json::from_slice::<JvmsRequest>(&bytes).map_err(|e| unreadable(&e))?,
        Err(e) if e.kind() == ErrorKind::NotFound => JvmsRequest::default(),
        Err(e) => return Err(unreadable(&e)),
    };
    let jvm = Jvm {
        pid: std::process::id(),
        left_alone: left_alone(&facts, &request.pick),
        command: facts.command,
    };
    let dir = own_directory(root, jvm.pid).map_err(|e| unreadable(&e))?;
    let text = serde_json::to_vec(&jvm).map_err(|e| unreadable(&e))?;
    let mut file = File::create(dir.join(files::JVM)).map_err(|e| unreadable(&e))?;
    file.lock().map_err(|e| unreadable(&e))?;
    file.write_all(&text).map_err(|e| unreadable(&e))?;
    // The system gives the lock back when the process ends, however it ends.
    std::mem::forget(file);
    Ok(jvm.left_alone.is_none().then_some((dir, request.run)))
}

/// Process numbers come again in a long build.
fn own_directory(root: &Path, pid: u32) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(root)?;
    let mut name = format!("{DIRECTORY}{pid}");
    for again in 2.. {
        let dir = root.join(&name);
        match std::fs::create_dir(&dir) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                name = format!("{DIRECTORY}{pid}-{again}");
            }
            made => return made.map(|()| dir),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Why this JVM is not looked at; None if it is.
fn left_alone(facts: &Facts, pick: &[String]) -> Option<LeftAlone> {
    let names = names(&facts.command);
    let named = |pattern: &str| names.iter().any(|name| glob(pattern.trim(), name));
    let why = match pick {
        [] if facts.command.is_empty() => Some(LeftAlone::NoMainClass),
        [] => is_build_tool(&facts.command, named).then_some(LeftAlone::BuildTool),
        _ if pick.iter().any(|pattern| named(pattern)) => None,
        _ => Some(LeftAlone::NotPicked),
    };
    why.or_else(|| {
        let old = feature(&facts.version).is_none_or(|version| version < MINIMUM);
        old.then(|| LeftAlone::TooOld(facts.version.clone()))
    })
}

fn is_build_tool(command: &str, named: impl Fn(&str) -> bool) -> bool {
    if let Some(arguments) = command.strip_prefix(GRADLE_WORKER) {
        return !arguments.contains(GRADLE_TESTS);
    }
    let module = command.split_once('/').map_or("", |(module, _)| module);
    let is_jdk = module.starts_with("jdk.") || module.starts_with("java.");
    is_jdk && !command.starts_with(SOURCE_LAUNCHER) || BUILD_TOOLS.iter().any(|tool| named(tool))
}

/// By what names patterns know the program: its main class, with and without the module, or
/// its jar, with and without directories.
fn names(command: &str) -> Vec<&str> {
    let first = command.split(' ').next().unwrap_or_default();
    // The path of a jar may have spaces in it, which nothing tells from other spaces.
    let is_path = first.starts_with(['/', '.']) || first.ends_with(".jar");
    let jar = command.find(".jar").filter(|_| is_path);
    let whole = jar.and_then(|at| command.get(..at + ".jar".len()));
    let whole = whole.unwrap_or(first);
    let last = whole.rsplit('/').next().unwrap_or(whole);
    match last == whole {
        true => vec![whole],
        false => vec![whole, last],
    }
}

/// `17` -> 17, `1.8` -> 8.
fn feature(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(command: &str, pick: &[&str]) -> Option<LeftAlone> {
        let facts = Facts {
            command: command.to_owned(),
            version: "17".to_owned(),
        };
        let pick: Vec<String> = pick.iter().map(|text| text.to_string()).collect();
        left_alone(&facts, &pick)
    }

    #[test]
    fn build_tools_are_left_alone_and_tests_are_not() {
        for tool in [
            "org.codehaus.plexus.classworlds.launcher.Launcher -o test",
            "org.gradle.launcher.daemon.bootstrap.GradleDaemon 8.5",
            "/home/a b/shop/gradle/wrapper/gradle-wrapper.jar test",
            "worker.org.gradle.process.internal.worker.GradleWorkerMain Gradle Worker Daemon 1",
            "/opt/sbt/bin/sbt-launch.jar",
            "jdk.compiler/com.sun.tools.javac.Main -d out A.java",
            "jdk.jcmd/sun.tools.jps.Jps",
        ] {
            assert_eq!(alone(tool, &[]), Some(LeftAlone::BuildTool), "{tool}");
        }
        for program in [
            "com.shop.Main --port 0",
            "com.shop/com.shop.Main",
            "/p/target/surefire/surefirebooter-20260101.jar /p/target/surefire 1 2",
            "org.apache.maven.surefire.booter.ForkedBooter /p 1 2",
            "worker.org.gradle.process.internal.worker.GradleWorkerMain Gradle Test Executor 1",
            "sbt.ForkMain 1234",
            "jdk.compiler/com.sun.tools.javac.launcher.Main Shop.java",
        ] {
            assert_eq!(alone(program, &[]), None, "{program}");
        }
        assert_eq!(alone("", &[]), Some(LeftAlone::NoMainClass));
    }

    #[test]
    fn patterns_name_main_classes_and_jars() {
        let picked = |command: &str, pick: &str| alone(command, &[pick]).is_none();
        assert!(picked("com.shop.Main a b", "com.shop.Main"));
        assert!(picked("com.shop.Main", "com.shop.*"));
        assert!(picked("shop/com.shop.Main", "com.shop.Main"));
        assert!(picked("/a b/shop-1.2.jar --x.jar", "shop-*.jar"));
        assert!(picked("lib/shop.jar", "*/shop.jar"));
        assert!(picked(
            "org.gradle.launcher.GradleMain test",
            "org.gradle.*"
        ));
        assert!(picked("", "*") && !picked("", "com.*"), "it has no name");
        assert!(!picked("com.shop.Main shop.jar", "*.jar"));
        assert!(!picked("com.shop.MainTest", "com.shop.Main"));
        assert_eq!(alone("Other", &["Main"]), Some(LeftAlone::NotPicked));
    }

    #[test]
    fn an_old_java_is_named() {
        let old = |version: &str| {
            let facts = Facts {
                command: "Main".to_owned(),
                version: version.to_owned(),
            };
            left_alone(&facts, &[])
        };
        assert_eq!(old("1.8"), Some(LeftAlone::TooOld("1.8".into())));
        assert_eq!(old("11"), Some(LeftAlone::TooOld("11".into())));
        assert_eq!((old("17"), old("25")), (None, None));
    }

    #[test]
    fn every_jvm_has_a_directory_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let facts = |command: &str| Facts {
            command: command.to_owned(),
            version: "17".to_owned(),
        };
        let (first, request) = enter(root.path(), facts("Main")).unwrap().unwrap();
        assert_eq!(request, RunRequest::default());
        let (second, _) = enter(root.path(), facts("Main")).unwrap().unwrap();
        assert_ne!(first, second, "a process number that comes again");
        let tool = "org.gradle.launcher.GradleMain";
        assert_eq!(enter(root.path(), facts(tool)).unwrap(), None);
        let text = std::fs::read(first.join(files::JVM)).unwrap();
        let jvm: Jvm = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (jvm.command.as_str(), jvm.pid),
            ("Main", std::process::id())
        );
        let lock = File::open(first.join(files::JVM)).unwrap();
        assert!(lock.try_lock_shared().is_err(), "it lives");
    }
}
