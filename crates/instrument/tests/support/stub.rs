//! Makes bridges.

use instrument::{BRIDGE, CONTROL_BRIDGE, all_probes};
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
    let mut files = Vec::new();
    for class in [BRIDGE, CONTROL_BRIDGE] {
        let simple = class.rsplit('/').next().unwrap_or(class);
        // The second sees the members of the first.
        let mut source = match class == BRIDGE {
            true => format!(
                "package java.lang;\nfinal class PhotofinishThread {{}}\n\
                 public class {simple} {{\n{members}\n"
            ),
            false => format!("package java.lang;\npublic class {simple} extends Photofinish {{\n"),
        };
        for probe in all_probes().filter(|p| p.class == class) {
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
        source.push_str("}\n");
        let file = scratch.join(format!("{simple}.java"));
        std::fs::write(&file, source).expect("bridge source");
        files.push(file);
    }
    let here = format!("java.base={}", path(scratch));
    let mut args = vec!["--patch-module", &here, "-d", path(out)];
    args.extend(files.iter().map(|f| path(f)));
    run("javac", &args);
}

fn java_type(desc: &str) -> String {
    match desc {
        "I" => "int".to_owned(),
        "C" => "char".to_owned(),
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
