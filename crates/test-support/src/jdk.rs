//! Finding and running the installed JDKs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The JDK that JAVA_HOME names, else the one that `javac` on the PATH is part of.
pub fn home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return home.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter_map(|dir| dir.join("javac").canonicalize().ok())
        .find_map(|javac| Some(javac.parent()?.parent()?.to_owned()))
        .expect("no JDK: set JAVA_HOME, or put javac on the PATH")
}

/// A Java that is installed: a JDK, or a runtime alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Installed {
    /// 17, 21, 25.
    pub feature: u32,
    pub home: PathBuf,
}

impl Installed {
    fn at(home: &Path) -> Option<Installed> {
        let home = home.canonicalize().ok()?;
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let mut lines = release.lines();
        let version = lines.find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        let feature = version.split(['.', '"', '-', '+']).next()?.parse().ok()?;
        home.join("bin/java")
            .exists()
            .then_some(Installed { feature, home })
    }

    /// The image of a directory is `lib/modules`: a JDK of our time.
    fn is_supported(&self) -> bool {
        self.feature >= 17 && self.home.join("lib/modules").exists()
    }

    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// What its directory is called.
    pub fn name(&self) -> String {
        let name = self.home.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The class files of these names (`java/lang/Thread`) that it has.
    pub fn classes(&self, names: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let scratch = Scratch::new(&format!("classes-{}", self.name()));
        let escaped: Vec<String> = names.iter().map(|n| n.replace('$', "\\$")).collect();
        let wanted = format!("regex:/[^/]+/({})\\.class", escaped.join("|"));
        let args = ["extract", "--include", &wanted, "--dir", path(&scratch.0)];
        run(
            "jimage",
            &[&args[..], &[path(&self.home.join("lib/modules"))]].concat(),
        );
        let modules = std::fs::read_dir(&scratch.0).expect("the directory of modules");
        let modules: Vec<PathBuf> = modules.flatten().map(|entry| entry.path()).collect();
        let bytes = |name: &&str| {
            let file = format!("{name}.class");
            let mut found = modules.iter().map(|module| module.join(&file));
            let bytes =
                std::fs::read(found.find(|at| at.exists())?).expect("the class is readable");
            Some(((*name).to_owned(), bytes))
        };
        names.iter().filter_map(bytes).collect()
    }
}

/// One Java of every supported version that is known here, the oldest first. In this order: that of the other
/// tests, those that PHOTOFINISH_JDKS names (directories, with colons between them), those where Debian puts them.
pub fn installed() -> Vec<Installed> {
    let named = std::env::var_os("PHOTOFINISH_JDKS").unwrap_or_default();
    let below = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let mut below: Vec<PathBuf> = below.flatten().map(|entry| entry.path()).collect();
    below.sort();
    let homes = [home()].into_iter().chain(std::env::split_paths(&named));
    let found = homes.chain(below).filter_map(|at| Installed::at(&at));
    let mut found: Vec<Installed> = found.filter(Installed::is_supported).collect();
    found.sort_by_key(|jdk| jdk.feature); // stable: the first of each version stays first
    found.dedup_by_key(|jdk| jdk.feature);
    found
}

/// A compiler for this version of the language; the oldest that there is.
pub fn javac_for(release: u32) -> Option<PathBuf> {
    let fit = installed().into_iter().filter(|jdk| jdk.feature >= release);
    let mut compilers = fit.map(|jdk| jdk.home.join("bin/javac"));
    compilers.find(|javac| javac.exists())
}

/// `java` or another tool of the JDK.
pub fn tool(name: &str) -> Command {
    Command::new(home().join("bin").join(name))
}

/// Runs a tool of the JDK for what it prints; panics with that if it fails.
pub fn run(name: &str, args: &[&str]) -> Vec<u8> {
    let out = tool(name)
        .args(args)
        // Where a crash leaves its report.
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stdout);
        let errors = String::from_utf8_lossy(&out.stderr);
        panic!("{name} failed\n{text}\n{errors}");
    }
    out.stdout
}

/// The same for a tool that prints text.
pub fn run_for_text(name: &str, args: &[&str]) -> String {
    String::from_utf8_lossy(&run(name, args)).into_owned()
}

/// The tests' paths are ours to choose, so they are text.
pub fn path(p: &Path) -> &str {
    p.to_str().expect("path is not Unicode")
}

/// A directory of this test run that is gone when it is dropped.
#[derive(Debug)]
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("photofinish-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("temporary directory");
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind at worst: nothing to be done about it here.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
