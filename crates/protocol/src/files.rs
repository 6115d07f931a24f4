//! Names of the files in a run directory.

/// What the run is asked, a [`crate::RunRequest`]. Without it the run is asked
/// nothing in particular: the defaults.
pub const REQUEST: &str = "request.json";
/// A [`crate::finding::Line`] a line, each written when it is found. Made when the
/// agent starts.
pub const FINDINGS: &str = "findings.jsonl";
/// A [`crate::Summary`], written at the orderly end of the JVM.
pub const SUMMARY: &str = "summary.json";
/// A [`crate::Fatal`]: the agent gave up before the program began.
pub const FATAL: &str = "fatal.json";
/// Locked by whoever waits for the program: when the lock is given back, the agent
/// ends the program.
pub const RUNNING: &str = "running";
/// The schedule log of a controlled run.
pub const SCHEDULE: &str = "schedule.pfs";
/// The recording of a run.
pub const TRACE: &str = "trace.pft";
/// The may-trigger relation that a run collected.
pub const RELATION: &str = "relation.txt";
/// What an execution of an exploration is to begin with, an [`explore::Job`].
pub const JOB: &str = "job.json";
/// What it did, an [`crate::execution::Execution`].
pub const EXECUTION: &str = "execution.json";
/// What the JVMs of a command are asked, a [`crate::jvms::JvmsRequest`]; in the directory
/// above their run directories.
pub const JVMS: &str = "jvms.json";
/// A [`crate::jvms::Jvm`]: which JVM the run directory is of. The agent locks it for as long
/// as the JVM lives.
pub const JVM: &str = "jvm.json";
/// The socket on which a worker gets jobs and answers.
pub const WORKER: &str = "worker";
