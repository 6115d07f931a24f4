//! The program must not outlive the tool that started it: nobody would read
//! what it finds, and nobody would end it.
//!
//! The tool holds a lock on a file in the run directory for as long as it waits
//! for the program. A thread here waits for that lock. However the tool ends,
//! SIGKILL included, the system gives the lock back, and the thread asks the
//! program to end and kills it when it has not done so after a while, as the
//! tool itself would have done. (A signal at the parent's death, the other way
//! that Linux has, goes by the parent's thread, and a `java` that is a shell
//! script is the JVM's parent.)

use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group, kill_process};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// How long the program may take to end once it has been asked to.
const GRACE: Duration = Duration::from_secs(10);

/// Begins to watch. Without the file nobody waits for the program: somebody
/// loaded the agent by hand.
pub fn watch(out: &Path) -> Result<(), String> {
    let Ok(file) = File::open(out.join(protocol::files::RUNNING)) else {
        return Ok(());
    };
    let thread = std::thread::Builder::new().name("photofinish tool".into());
    thread
        .spawn(move || {
            if is_given_back(&file) {
                end(Signal::TERM);
                std::thread::sleep(GRACE);
                end(Signal::KILL);
            }
        })
        .map(|_| ())
        .map_err(|e| format!("cannot start a thread ({e}): the program may outlive the tool"))
}

/// Waits; false if the file cannot be locked, which says nothing.
fn is_given_back(file: &File) -> bool {
    loop {
        match file.lock_shared() {
            Ok(()) => return true,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// With what the program started, if the tool gave it a group of its own.
fn end(signal: Signal) {
    let _ = if getpgrp() == getpid() {
        kill_current_process_group(signal)
    } else {
        kill_process(getpid(), signal)
    };
}
