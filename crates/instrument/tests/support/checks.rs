//! What tests of several kinds of probes check classes with.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Members of a bridge whose probes note what they see in `notes`: when the program
/// ends, it goes into the file that the property `notes` names.
pub const NOTES: &str = r#"
    static final StringBuilder notes = new StringBuilder();
    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                var file = java.nio.file.Path.of(System.getProperty("notes"));
                java.nio.file.Files.writeString(file, notes);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }));
    }"#;

/// Gives `check` some of the classes with a few bytes changed.
pub fn with_broken(classes: &[Vec<u8>], check: impl Fn(&[u8])) {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let strategy = (0..classes.len(), prop::collection::vec(change, 1..8));
    let mut runner = TestRunner::new(Config::with_cases(3000));
    let result = runner.run(&strategy, |(class, changes)| {
        let mut bytes = classes[class].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        check(&bytes);
        Ok(())
    });
    result.unwrap();
}
