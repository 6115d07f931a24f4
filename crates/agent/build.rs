//! Compiles the bridge classes (java/) with javac, to be carried inside the
//! library. A JDK is needed to build; nothing but a JVM is to run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../java");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let classes = out.join("bridge");
    println!("cargo:rerun-if-changed={}", root.join("bridge").display());
    println!("cargo:rerun-if-changed={}", root.join("stub").display());
    println!("cargo:rerun-if-env-changed=JAVA_HOME");

    let mut sources = Vec::new();
    for part in ["bridge", "stub"] {
        let dir = root.join(part).join("java/lang");
        let entries =
            fs::read_dir(&dir).unwrap_or_else(|e| panic!("cannot list {}: {e}", dir.display()));
        sources.extend(
            entries
                .flatten()
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|x| x == "java")),
        );
    }
    sources.sort();

    let _ = fs::remove_dir_all(&classes);
    fs::create_dir_all(&classes).expect("OUT_DIR is writable");
    let javac = match env::var("JAVA_HOME") {
        Ok(home) => Path::new(&home).join("bin/javac"),
        Err(_) => PathBuf::from("javac"),
    };
    let patch = format!(
        "java.base={}:{}",
        root.join("bridge").display(),
        root.join("stub").display()
    );
    let status = Command::new(&javac)
        // No invokedynamic: these classes run before method handles do.
        .args([
            "-g",
            "-XDstringConcat=inline",
            "-Xlint:-options",
            "-source",
            "17",
            "-target",
            "17",
        ])
        .args(["--patch-module", &patch, "-d"])
        .arg(&classes)
        .args(&sources)
        .status();
    match status {
        Ok(s) if s.success() => {}
        Ok(s) => panic!("{} failed on the bridge classes ({s})", javac.display()),
        Err(e) => panic!(
            "cannot run {}: {e}; install a JDK 17 or later (Debian: openjdk-17-jdk-headless) or set JAVA_HOME",
            javac.display()
        ),
    }

    // One Rust file with all of them, the bridge's entry class first.
    let mut names: Vec<String> = fs::read_dir(classes.join("java/lang"))
        .expect("javac wrote there")
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|n| n.starts_with("Photofinish"))
        .collect();
    names.sort();
    let mut table = String::from("pub static CLASSES: &[(&str, &[u8])] = &[\n");
    for name in &names {
        let path = classes.join("java/lang").join(name);
        let class = name.trim_end_matches(".class");
        table.push_str(&format!(
            "    (\"java/lang/{class}\", include_bytes!({path:?})),\n"
        ));
    }
    table.push_str("];\n");
    fs::write(out.join("bridge.rs"), table).expect("OUT_DIR is writable");
}
