//! Makes bridges.

use std::fmt::Write as _;
use std::path::Path;
use test_support::jdk::{path, run_for_text as run};

/// Compiles a bridge into `out`, with a body for each probe, made from the types of its
/// parameters, which are called `a0`, `a1` and so on. `members` goes into the class too.
pub fn bridge_with(
    scratch: &Path,
    out: &Path,
    members: &str,
    body: impl Fn(&instrument::Probe, &[String]) -> String,
) {
    let mut source = format!("package java.lang;\npublic final class Photofinish {{\n{members}\n");
    for probe in instrument::PROBES.iter().chain(instrument::probes::VALUES) {
        let signature = classfile::method(probe.desc).expect("a probe's descriptor");
        let types: Vec<String> = signature.params().map(java_type).collect();
        let params: Vec<String> = (types.iter().enumerate())
            .map(|(i, t)| format!("{t} a{i}"))
            .collect();
        let (name, params, body) = (probe.name, params.join(", "), body(probe, &types));
        let returned = match signature.ret {
            "V" => "void".to_owned(),
            value => java_type(value),
        };
        let _ = writeln!(
            source,
            "public static {returned} {name}({params}) {{ {body} }}"
        );
    }
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
