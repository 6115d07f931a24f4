//! A bridge for rewritten classes to call.

use std::fmt::Write as _;
use std::path::Path;
pub use test_support::jdk::{Scratch, path, run_for_text as run};

/// Compiles a bridge into `out`: every probe runs `body`, in which `NAME` is the
/// probe's name and `SITE` its site, or -1. `members` goes into the class too.
pub fn bridge(scratch: &Path, out: &Path, members: &str, body: &str) {
    let mut source = format!("package java.lang;\npublic final class Photofinish {{\n{members}\n");
    for probe in instrument::PROBES {
        let signature = classfile::method(probe.desc).expect("a probe's descriptor");
        let types: Vec<String> = signature.params().map(java_type).collect();
        let params: Vec<String> = (types.iter().enumerate())
            .map(|(i, t)| format!("{t} a{i}"))
            .collect();
        let site = match types.last().map(String::as_str) {
            Some("int") => format!("a{}", types.len() - 1),
            _ => "-1".to_owned(),
        };
        let body = body
            .replace("NAME", &format!("\"{}\"", probe.name))
            .replace("SITE", &site);
        let (name, params) = (probe.name, params.join(", "));
        let _ = writeln!(source, "public static void {name}({params}) {{ {body} }}");
    }
    let _ = writeln!(
        source,
        "public static Object {}(Object o) {{ return o; }}",
        instrument::probes::ITSELF.name
    );
    source.push_str("}\nfinal class PhotofinishThread {}\n");
    let file = scratch.join("Photofinish.java");
    std::fs::write(&file, source).expect("bridge source");
    let here = format!("java.base={}", path(scratch));
    run(
        "javac",
        &["--patch-module", &here, "-d", path(out), path(&file)],
    );
}

fn java_type(desc: &str) -> String {
    match desc {
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        "Z" => "boolean".to_owned(),
        object => object
            .trim_start_matches('L')
            .trim_end_matches(';')
            .replace('/', "."),
    }
}
