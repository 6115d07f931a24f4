//! How a JVM is started with the agent: `-agentpath:<library>=out=<directory>`,
//! where the agent finds what the run is asked ([`protocol::RunRequest`]), and the
//! flags that every run gets, with their reasons.

pub use protocol::{Budget, Control, Cut, Mode, RunRequest, Scheduler, Statement, Variant};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Flags given to every JVM, before the user's own, which may override them.
const FLAGS: &[&str] = &[
    // Probes make methods longer; past 8000 bytes HotSpot would interpret them
    // for ever.
    "-XX:-DontCompileHugeMethods",
    // The next flag is a diagnostic one.
    "-XX:+UnlockDiagnosticVMOptions",
];

/// Methods of `java.util` for which the optimising compiler has code of its
/// own: with that, their reads of the program's arrays would vanish once they
/// are hot.
const ARRAY_INTRINSICS: &str =
    "_copyOf,_copyOfRange,_base64_encodeBlock,_base64_decodeBlock,_equalsB,_equalsC";

/// The same for natives that the agent stands before. They order nothing in
/// happens-before, so FastTrack does not ask for them.
const NOTIFY_INTRINSICS: &str = "_notify,_notifyAll";

/// Under control the agent also stands before clocks, hints that a thread
/// spins, and identity hashes.
const CONTROL_INTRINSICS: &str =
    "_nanoTime,_currentTimeMillis,_onSpinWait,_hashCode,_identityHashCode";

/// Further flags of controlled runs.
const CONTROL_FLAGS: &[&str] = &[
    // The next flag is an experimental one.
    "-XX:+UnlockExperimentalVMOptions",
    // Numbers of threads are given to those of the JVM, too, and so are beginnings of their identity
    // hashes: it makes them all when it starts, and not when it has much to do.
    "-XX:-UseDynamicNumberOfCompilerThreads",
    "-XX:-UseDynamicNumberOfGCThreads",
    // A file that the JVM keeps about itself, of no use to anybody here.
    "-XX:-UsePerfData",
];

/// Identity hashes of controlled runs: each thread has a sequence of its own, which threads that are not
/// controlled do not disturb.
const HASHES_BY_THREAD: &str = "-XX:hashCode=5";

/// The same where one JVM makes many executions, each with new threads: they count up, so that they
/// remain in order.
const HASHES_IN_ORDER: &str = "-XX:hashCode=3";

/// A further flag of controlled runs: each virtual thread has a thread of the system's to itself, as HotSpot
/// does it where it knows no continuations, so that one can be stopped without the others.
/// JVMs before [`VIRTUAL_THREADS`] do not know it.
const BOUND_THREADS: &str = "-XX:-VMContinuations";

/// The first Java with virtual threads.
pub const VIRTUAL_THREADS: u32 = 21;

/// Further flags of executions that are part of an exploration.
const EXPLORE_FLAGS: &[&str] = &[
    // Objects are counted as they are made, whether or not they could be done
    // without.
    "-XX:-DoEscapeAnalysis",
];

/// Further flags where executions are short and many.
const SHORT_FLAGS: &[&str] = &["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The flags for a run on a Java of this feature version, if that is known.
pub fn jvm_flags(options: &RunRequest, feature: Option<u32>) -> Vec<String> {
    let serial = options.control.as_ref().is_some_and(is_serial);
    let mut off = format!("-XX:DisableIntrinsic={ARRAY_INTRINSICS}");
    let mut add = |names: &str| {
        off.push(',');
        off.push_str(names);
    };
    if options.mode != Mode::FASTTRACK || serial {
        add(NOTIFY_INTRINSICS);
    }
    if serial {
        add(CONTROL_INTRINSICS);
    }
    let more = if serial { CONTROL_FLAGS } else { &[] };
    let scheduler = options.control.as_ref().map(|c| &c.scheduler);
    let explores = matches!(scheduler, Some(Scheduler::Explore(_)));
    let counts = if explores { EXPLORE_FLAGS } else { &[] };
    let is_worker = options.control.as_ref().is_some_and(|c| c.worker);
    let short = if explores || is_worker {
        SHORT_FLAGS
    } else {
        &[]
    };
    let hashes = match explores || is_worker {
        true => &HASHES_IN_ORDER,
        false => &HASHES_BY_THREAD,
    };
    let more = more.iter().chain(serial.then_some(hashes));
    let flags = FLAGS.iter().chain(more).chain(counts).chain(short);
    let bound = serial && feature.is_some_and(|feature| feature >= VIRTUAL_THREADS);
    let flags = flags.chain(bound.then_some(&BOUND_THREADS));
    let flags = flags.map(|flag| flag.to_string());
    // Controlled threads share one processor; the program is to see them all.
    let processors = std::thread::available_parallelism()
        .ok()
        .filter(|_| serial)
        .map(|n| format!("-XX:ActiveProcessorCount={n}"));
    flags.chain([off]).chain(processors).collect()
}

/// Whether one thread runs at a time; some schedulers only make noise, or hold
/// threads back here and there.
pub fn is_serial(control: &Control) -> bool {
    match &control.scheduler {
        Scheduler::Named(name) => {
            schedule::Scheduler::named(name).is_some_and(schedule::Scheduler::is_serial)
        }
        Scheduler::Replay(_)
        | Scheduler::Steer(_)
        | Scheduler::Follow(_)
        | Scheduler::Explore(_) => true,
        Scheduler::Collect => false,
    }
}

/// The JVM argument that loads the agent for a run in this directory.
pub fn agent_argument(library: &Path, out: &Path) -> OsString {
    agent_option(library, "out", out)
}

/// The same; `name`: what the directory is to the agent.
pub fn agent_option(library: &Path, name: &str, out: &Path) -> OsString {
    let mut text = OsString::from("-agentpath:");
    text.push(library);
    text.push(format!("={name}="));
    text.push(encoding::percent::encode(out.as_os_str().as_bytes()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_may_have_any_name() {
        assert_eq!(
            agent_argument(Path::new("/c/agent.so"), Path::new("/tmp/a,b=c")),
            "-agentpath:/c/agent.so=out=/tmp/a%2Cb%3Dc"
        );
    }

    #[test]
    fn flags_of_controlled_runs() {
        let has = |name: &str, text: &str| {
            let options = RunRequest {
                control: Some(Control::new(name, 1)),
                ..RunRequest::default()
            };
            let flags = jvm_flags(&options, Some(21));
            flags.iter().any(|flag| flag.contains(text))
        };
        assert!(has("pct", "_identityHashCode") && has("pct", "hashCode=5"));
        for free in ["contest", "drfinder"] {
            assert!(!has(free, "hashCode"), "a free-running program");
        }
        assert!(has("drfinder-serial", "hashCode"));
    }

    /// A JVM refuses to start with a flag that it does not know.
    #[test]
    fn virtual_threads_are_bound_where_there_are_any() {
        let bound = |name: &str, feature| {
            let options = RunRequest {
                control: Some(Control::new(name, 1)),
                ..RunRequest::default()
            };
            jvm_flags(&options, feature).contains(&BOUND_THREADS.to_owned())
        };
        assert!(bound("random", Some(21)) && bound("random", Some(25)));
        assert!(!bound("random", Some(17)) && !bound("random", None));
        assert!(!bound("contest", Some(25)), "a free-running program");
    }
}
