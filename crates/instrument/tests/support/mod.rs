//! A bridge for rewritten classes to call.

mod stub;

use std::path::Path;
use stub::bridge_with;
pub use test_support::jdk::{Scratch, path, run_for_text as run};

/// Compiles a bridge into `out`: every probe runs `body`, in which `NAME` is the
/// probe's name and `SITE` its site, or -1. `members` goes into the class too.
pub fn bridge(scratch: &Path, out: &Path, members: &str, body: &str) {
    bridge_with(scratch, out, members, |probe, params| {
        let site = match params.last() {
            Some(last) if last == "int" => format!("a{}", params.len() - 1),
            _ => "-1".to_owned(),
        };
        if classfile::method(probe.desc).is_ok_and(|m| m.ret == "V") {
            let name = format!("\"{}\"", probe.name);
            return body.replace("NAME", &name).replace("SITE", &site);
        }
        match probe.desc.as_bytes().last() {
            Some(b'I') if probe.desc != "(I)I" => "return a1;".to_owned(),
            Some(b'J') => "return 1;".to_owned(),
            _ => "return a0;".to_owned(),
        }
    });
}
