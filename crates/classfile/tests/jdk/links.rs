//! Edited everywhere, every class still verifies and runs.

use classfile::{ClassFile, EditError};

use crate::image::{Jar, jdk_classes};
use test_support::exercise::class::edit_everywhere;
use test_support::jdk::{Scratch, path, run};

const MODULES: [&str; 6] = [
    "java.base",
    "jdk.compiler",
    "java.xml",
    "java.desktop",
    "java.net.http",
    "java.sql",
];

#[test]
fn classes_edited_everywhere_link_under_full_verification() {
    let scratch = Scratch::new("links");
    let mut jars: [Jar; MODULES.len()] = Default::default();
    let mut names = String::new();
    let (mut edited, mut left) = (0, Vec::new());
    for entry in jdk_classes() {
        let module = MODULES.iter().position(|m| *m == entry.module);
        let (Some(module), true) = (module, entry.path != "module-info.class") else {
            continue;
        };
        let mut class = ClassFile::parse(&entry.bytes).unwrap();
        for m in 0..class.methods.len() {
            match edit_everywhere(&mut class, m) {
                Ok(yes) => edited += usize::from(yes),
                Err(EditError::CodeTooLarge(_) | EditError::BranchTooFar(_)) => {
                    let method = class.member_name(&class.methods[m]).into_owned();
                    left.push(format!("{}.{method}", class.name()));
                }
                Err(e) => panic!("{} method {m}: {e}", entry.path),
            }
        }
        jars[module].add(&entry.path, &class.to_bytes());
        names.push_str(&entry.path.trim_end_matches(".class").replace('/', "."));
        names.push('\n');
    }
    assert!(edited > 100_000, "only {edited} methods edited");
    assert!(
        left.len() < 150,
        "{} methods left alone: {left:?}",
        left.len()
    );

    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jdk/Link.java");
    let (out, list) = (scratch.0.join("out"), scratch.0.join("names"));
    std::fs::write(&list, &names).unwrap();
    run("javac", &["-d", path(&out), source]);
    let mut patch_args = Vec::new();
    for (module, jar) in std::iter::zip(MODULES, jars) {
        let file = scratch.0.join(format!("{module}.jar"));
        jar.write(&file);
        patch_args.push(format!("--patch-module={module}={}", path(&file)));
    }
    let mut args: Vec<&str> = patch_args.iter().map(String::as_str).collect();
    let again = scratch.0.join("again");
    std::fs::create_dir_all(&again).unwrap();
    args.extend([
        "-Xverify:all",
        "-cp",
        path(&out),
        "Link",
        path(&list),
        source,
        path(&again),
    ]);
    let text = String::from_utf8_lossy(&run("java", &args)).into_owned();
    assert!(!text.contains("FAILED"), "{text}");
    let count = names.lines().count();
    assert!(
        text.contains(&format!("linked {count} of {count}")),
        "{text}"
    );
    assert!(text.contains("compiler exit 0"), "{text}");
    // The edited compiler does what the original did.
    let compiled = |dir: &std::path::Path| std::fs::read(dir.join("Link.class")).unwrap();
    assert_eq!(compiled(&out), compiled(&again));
}
