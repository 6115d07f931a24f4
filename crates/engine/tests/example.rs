//! `examples/hunt.rs` finds the race of a program: the library needs nothing
//! but a JDK.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Two threads count without a lock.
const PROGRAM: &str = "
public class Counting {
    static int count;

    public static void main(String[] args) throws InterruptedException {
        Thread other = new Thread(() -> count++);
        other.start();
        count++;
        other.join();
        System.out.println(count);
    }
}
";

#[test]
fn a_rust_program_hunts() {
    let Some(javac) = tool("javac") else {
        println!("skipped: there is no javac");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Counting.java");
    std::fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new(javac)
        .arg("-d")
        .args([dir.path(), &source])
        .status()
        .unwrap();
    assert!(compiled.success());
    let hunted = Command::new(example("hunt"))
        .arg("-cp")
        .arg(dir.path())
        .arg("Counting")
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&hunted.stdout);
    let told = String::from_utf8_lossy(&hunted.stderr);
    assert!(hunted.status.success(), "{told}");
    assert!(said.starts_with("Found\n"), "{said}{told}");
    assert!(said.contains("R1 Confirmed Counting.count"), "{said}{told}");
    assert!(told.contains("stage: predict"), "{told}");
    let usage = Command::new(example("hunt")).output().unwrap();
    assert_eq!(usage.status.code(), Some(64));
}

/// Of the JDK that JAVA_HOME names, or on the PATH.
fn tool(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let homes = home.map(|home| Path::new(&home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = homes.into_iter().chain(std::env::split_paths(&path));
    dirs.map(|dir| dir.join(name)).find(|file| file.exists())
}

/// Beside this test, where cargo builds examples before it runs tests.
fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.ancestors().nth(2).unwrap();
    profile.join("examples").join(name)
}
