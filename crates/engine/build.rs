//! Builds the agent library and hands it to the binary, which carries it
//! inside: one file to install.
//!
//! Cargo has no stable way to depend on another package's cdylib, so this runs
//! a second cargo in a target directory of its own (the outer one is locked),
//! shared by all profiles of the outer build. It needs nothing the outer build
//! has not fetched already. `PHOTOFINISH_AGENT` names a ready-made library to
//! embed instead.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the agent is made of.
const PARTS: &[&str] = &[
    "crates/agent",
    "crates/instrument",
    "crates/classfile",
    "crates/contract",
    "crates/encoding",
    "crates/trace",
    "crates/order",
    "crates/detect",
    "crates/schedule",
    "crates/explore",
    "crates/protocol",
    "java",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() {
    println!("cargo::rerun-if-env-changed=PHOTOFINISH_AGENT");
    let library = match env::var_os("PHOTOFINISH_AGENT") {
        Some(path) => PathBuf::from(path),
        None => build_agent(),
    };
    println!("cargo::rerun-if-changed={}", library.display());
    pack(&library);
}

/// What the binary carries: compressed in a release, where its size matters.
fn pack(library: &Path) {
    let level = if variable("PROFILE") == "release" {
        9
    } else {
        0
    };
    let bytes =
        std::fs::read(library).unwrap_or_else(|e| panic!("cannot read {}: {e}", library.display()));
    let packed = Path::new(&variable("OUT_DIR")).join("agent.deflate");
    std::fs::write(
        &packed,
        miniz_oxide::deflate::compress_to_vec(&bytes, level),
    )
    .unwrap_or_else(|e| panic!("cannot write {}: {e}", packed.display()));
}

fn build_agent() -> PathBuf {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = manifest
        .join("../..")
        .canonicalize()
        .expect("the workspace is two levels up");
    for part in PARTS {
        let path = root.join(part);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }

    let target_dir = target_dir(Path::new(&variable("OUT_DIR")));
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .current_dir(&root)
        .args([
            "build",
            "--package",
            "photofinish-agent",
            "--release",
            "--target-dir",
        ])
        .arg(&target_dir)
        // Of the outer build, and wrong for the inner: where it writes, and
        // clippy in place of the compiler.
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET_DIR")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    if root.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let mut built = target_dir;
    if target != host {
        cargo.args(["--target", &target]);
        built.push(&target);
    }
    if target.ends_with("-musl") {
        // A library inside a JVM shares the C library of the JVM; the tool itself has its own.
        let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
        let separator = if flags.is_empty() { "" } else { "\u{1f}" };
        let flags = format!("{flags}{separator}-Ctarget-feature=-crt-static");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(
        status.success(),
        "the agent library did not build; its errors are above"
    );
    built.join("release/libagent.so")
}

/// `<target>/agent`, seen from `<target>/<profile>/build/photofinish-<hash>/out`;
/// somewhere private if that is not how it looks.
fn target_dir(out: &Path) -> PathBuf {
    match out.ancestors().find(|dir| dir.ends_with("build")) {
        Some(build) if build.ancestors().nth(2).is_some() => {
            build.ancestors().nth(2).unwrap_or(out).join("agent")
        }
        _ => out.join("agent"),
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
