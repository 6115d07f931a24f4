//! Tests with a name for each row of a table, in test targets with
//! `harness = false`. They take the same arguments as other tests and print the
//! same result lines:
//!
//! ```text
//! cargo test -p photofinish --test sections racy::            # a group
//! cargo test -p photofinish --test sections -- --exact racy::field-int
//! ```

pub use libtest_mimic::Trial;
use libtest_mimic::{Arguments, Completion};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// A test; it fails when `run` panics.
pub fn trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        run();
        Ok(())
    })
}

/// A test that cannot run on this machine. It is counted as ignored, and the
/// reason is printed beside its name.
pub fn skipped(name: impl Into<String>, reason: &str) -> Trial {
    let reason = format!("skipped: {reason}");
    Trial::ignorable_test(name, || Ok(Completion::ignored_with(reason)))
}

/// Runs those of the trials that the command line names, and exits as cargo expects.
pub fn run(trials: Vec<Trial>) -> ! {
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// A test that needs something a machine may lack, inside an ordinary `#[test]`:
/// prints a line that is shown even for tests that pass.
pub fn say_skipped(name: &str, reason: &str) {
    use std::io::Write as _;
    // The test harness captures print macros, and not what is written directly.
    let _ = writeln!(std::io::stderr(), "test {name} ... skipped: {reason}");
}

/// A run that several trials look at: made when the first of them asks, and not
/// made again when it failed.
#[derive(Debug)]
pub struct Shared<T>(OnceLock<Option<T>>);

impl<T> Shared<T> {
    #[allow(clippy::new_without_default, reason = "for statics")]
    pub const fn new() -> Shared<T> {
        Shared(OnceLock::new())
    }

    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        let made = self
            .0
            .get_or_init(|| catch_unwind(AssertUnwindSafe(make)).ok());
        let failed = "the run that this test shares with others failed; see above";
        made.as_ref().expect(failed)
    }
}
