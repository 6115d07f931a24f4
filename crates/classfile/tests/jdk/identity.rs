//! Reading and writing without edits.

use classfile::{ClassFile, Code, Editor};

use crate::image::jdk_classes;

#[test]
fn rewriting_without_edits_changes_no_byte_of_any_jdk_class() {
    let mut methods = 0;
    for class in jdk_classes() {
        let name = &class.path;
        let mut cf = ClassFile::parse(&class.bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(
            cf.to_bytes() == class.bytes,
            "{name}: parsing loses something"
        );
        for m in 0..cf.methods.len() {
            let code = Code::decode(&cf, m).unwrap_or_else(|e| panic!("{name} {m}: {e}"));
            if let Some(code) = code {
                let editor = Editor::new(&code);
                editor
                    .finish(&mut cf)
                    .unwrap_or_else(|e| panic!("{name} {m}: {e}"));
                methods += 1;
            }
        }
        assert!(cf.to_bytes() == class.bytes, "{name}: rewriting changes it");
    }
    assert!(methods > 100_000, "only {methods} methods");
}
