//! A command in, findings of all the JVMs that it started out.
//!
//! `JAVA_TOOL_OPTIONS`, which every HotSpot reads, gives them the agent, however the command
//! starts them: a build tool, a script, a service. Each makes a run directory of its own
//! below ours ([`protocol::jvms`]) and says there whether it is looked at. A JVM holds a lock
//! on a file in it for as long as it lives, so that we know when it is gone, in another PID
//! namespace too.
//!
//! The command may end before its JVMs do, as a script does that starts a server: we wait
//! for those that are looked at. Whoever is still there when we stop waiting ends itself
//! (the agent's `orphan`).

use crate::interrupt::Interrupts;
use crate::options::{agent_option, jvm_flags};
use crate::process::{self, Event, GRACE, Input, Job, Outcome, Output, Running, Stopped};
use crate::run::{RunError, Waiting, read_findings, read_json};
use crate::secrets;
use findings::finding::Findings;
use protocol::jvms::{DIRECTORY, Jvm, JvmsRequest};
use protocol::{Fatal, RunRequest, files};
use rustix::process::{Pid, test_kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// What tells JVMs their options.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// How the directories of runs begin that are kept; the number follows.
pub const RUN: &str = "run-";

/// How often we look whether JVMs that the command left behind have ended.
const LOOK: Duration = Duration::from_millis(200);

/// How long a JVM may take to load the agent.
const TO_START: Duration = Duration::from_secs(3);

/// A command to run.
#[derive(Clone, Debug)]
pub struct CommandRequest<'a> {
    /// The agent as a file.
    pub library: &'a Path,
    /// The directory for the run directories; it exists.
    pub out: &'a Path,
    pub jvms: JvmsRequest,
    pub command: &'a [OsString],
    pub input: Input,
    pub output: Output,
    pub time_limit: Option<Duration>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct CommandResult {
    pub outcome: Outcome,
    pub jvms: Vec<JvmRun>,
}

/// One of the JVMs, in the order in which they started.
#[derive(Clone, Debug)]
pub struct JvmRun {
    pub jvm: Jvm,
    /// The agent could not do its work there.
    pub fatal: Option<Fatal>,
    pub findings: Findings,
    /// From its start to the agent's last word, or to now.
    pub elapsed: Duration,
    /// It still runs.
    pub alive: bool,
}

/// Runs the command to its end, and waits for the JVMs that it left behind; `left` is told
/// of them.
pub fn run_command(
    request: &CommandRequest<'_>,
    interrupts: &Interrupts,
    left: &dyn Fn(&[Jvm]),
) -> Result<CommandResult, RunError> {
    let path = request.out.join(files::JVMS);
    serde_json::to_vec(&request.jvms)
        .map_err(std::io::Error::from)
        .and_then(|text| std::fs::write(&path, text))
        .map_err(|source| RunError::Unwritable { path, source })?;
    let [program, args @ ..] = request.command else {
        return Err(RunError::NoCommand);
    };
    let mut command = Command::new(program);
    command.args(args).env(
        TOOL_OPTIONS,
        tool_options(request, std::env::var_os(TOOL_OPTIONS)),
    );
    secrets::remove(&mut command);
    let deadline = request
        .time_limit
        .and_then(|limit| Instant::now().checked_add(limit));
    let waiting = Waiting::for_run_in(request.out);
    let job = Job {
        command,
        input: request.input.clone(),
        output: request.output,
        time_limit: request.time_limit,
        watchdog: None,
    };
    let mut running = vec![Running::start(job, interrupts)?];
    let (at, status) = process::wait_any(&mut running, interrupts)?;
    let command = running.swap_remove(at);
    let group = command.group();
    let mut outcome = command.finish(status);
    if outcome.stopped.is_none() {
        await_start(request.out, group);
        outcome.stopped = await_jvms(request.out, interrupts, deadline, left)?;
    }
    drop(waiting);
    let patience = Instant::now() + GRACE;
    while !living(request.out)?.is_empty() && Instant::now() < patience {
        std::thread::sleep(LOOK);
    }
    Ok(CommandResult {
        outcome,
        jvms: read_jvms(request.out)?,
    })
}

/// A JVM needs a moment until it is known, and the command may not wait for it. As long as
/// something of the command is left, one may be on its way.
fn await_start(out: &Path, group: Option<Pid>) {
    let patience = Instant::now() + TO_START;
    let is_left = |group| test_kill_process_group(group).is_ok();
    while group.is_some_and(is_left)
        && living(out).is_ok_and(|jvms| jvms.is_empty())
        && Instant::now() < patience
    {
        std::thread::sleep(LOOK);
    }
}

/// Until no JVM that is looked at is left; why we stopped waiting before that.
fn await_jvms(
    out: &Path,
    interrupts: &Interrupts,
    deadline: Option<Instant>,
    left: &dyn Fn(&[Jvm]),
) -> Result<Option<Stopped>, RunError> {
    let mut told = false;
    loop {
        let living = living(out)?;
        if living.is_empty() {
            return Ok(None);
        }
        if !std::mem::replace(&mut told, true) {
            left(&living);
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Ok(Some(Stopped::TimeLimit));
        }
        let event = process::wait(&mut [], interrupts, Some(Instant::now() + LOOK))?;
        if matches!(event, Event::Interrupted) {
            return Ok(Some(Stopped::Interrupted));
        }
    }
}

/// JVMs that are looked at and have not ended.
fn living(out: &Path) -> Result<Vec<Jvm>, RunError> {
    let living = directories(out)?
        .into_iter()
        .filter(|dir| is_alive(dir))
        .filter_map(|dir| read_json::<Jvm>(&dir.join(files::JVM)).ok()?)
        .filter(|jvm| jvm.left_alone.is_none());
    Ok(living.collect())
}

/// The agent of each JVM of a command holds a lock; for a program alone, whoever waits for it does.
fn is_alive(dir: &Path) -> bool {
    let is_locked = |name: &str| {
        let file = File::open(dir.join(name));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    };
    is_locked(files::JVM) || is_locked(files::RUNNING)
}

/// What the JVMs have found whose run directories are below this one.
pub fn read_jvms(out: &Path) -> Result<Vec<JvmRun>, RunError> {
    read_all(directories(out)?)
}

/// The same of all runs below the directory in which they are kept, while they go on or after.
pub fn read_live(kept: &Path) -> Result<Vec<JvmRun>, RunError> {
    let mut dirs = directories(kept)?;
    // Of an agent that was told out=DIR nobody knows whether it goes on.
    dirs.retain(|dir| is_of_jvm(dir) || dir.join(files::REQUEST).exists());
    for run in below(kept, RUN)? {
        dirs.extend(directories(&run)?);
    }
    read_all(dirs)
}

fn read_all(dirs: Vec<PathBuf>) -> Result<Vec<JvmRun>, RunError> {
    let mut runs = Vec::new();
    for dir in dirs {
        let jvm = match read_json::<Jvm>(&dir.join(files::JVM))? {
            Some(jvm) => jvm,
            None if !is_of_jvm(&dir) => Jvm::default(),
            // It was killed before it could say who it is, and did nothing else either.
            None => continue,
        };
        let changed = |name: &str| std::fs::metadata(dir.join(name)).and_then(|m| m.modified());
        let start = changed(files::JVM).or_else(|_| changed(files::FINDINGS));
        let start = start.unwrap_or_else(|_| SystemTime::now());
        let end = changed(files::SUMMARY).unwrap_or_else(|_| SystemTime::now());
        let run = JvmRun {
            fatal: read_json(&dir.join(files::FATAL))?,
            findings: read_findings(&dir)?.0,
            elapsed: end.duration_since(start).unwrap_or_default(),
            alive: is_alive(&dir),
            jvm,
        };
        runs.push((start, run));
    }
    runs.sort_by_key(|(start, run)| (*start, run.jvm.pid));
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Whether JVMs have left something in this directory, or below it.
pub fn has_jvms(dir: &Path) -> bool {
    directories(dir).is_ok_and(|dirs| !dirs.is_empty())
}

fn directories(out: &Path) -> Result<Vec<PathBuf>, RunError> {
    let mut dirs = Vec::new();
    // The agent was told out=DIR: one JVM, which does not say which it was.
    if out.join(files::FINDINGS).exists() {
        dirs.push(out.to_owned());
    }
    dirs.extend(below(out, DIRECTORY)?);
    Ok(dirs)
}

/// Directories whose names begin so.
fn below(out: &Path, begins: &str) -> Result<Vec<PathBuf>, RunError> {
    let unreadable = |source| RunError::Unreadable {
        path: out.to_owned(),
        source,
    };
    let mut dirs = Vec::new();
    for entry in std::fs::read_dir(out).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if begins_with(&path, begins) && path.is_dir() {
            dirs.push(path);
        }
    }
    Ok(dirs)
}

fn is_of_jvm(dir: &Path) -> bool {
    begins_with(dir, DIRECTORY)
}

fn begins_with(path: &Path, begins: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(begins))
}

/// What a JVM needs that leaves what it finds below a directory.
pub fn options(library: &Path, out: &Path, run: &RunRequest) -> OsString {
    let mut text = quoted(&agent_option(library, "jvms", out));
    for flag in jvm_flags(run, None) {
        text.push(" ");
        text.push(flag);
    }
    text
}

/// Ours first: what the user says there may override it.
fn tool_options(request: &CommandRequest<'_>, theirs: Option<OsString>) -> OsString {
    let mut text = options(request.library, request.out, &request.jvms.run);
    if let Some(theirs) = theirs {
        text.push(" ");
        text.push(theirs);
    }
    text
}

/// The JVM takes what is between quotes as one option.
fn quoted(option: &OsStr) -> OsString {
    let text = option.to_string_lossy();
    let quote = match text {
        _ if !text.contains(char::is_whitespace) && !text.contains(['\'', '"']) => "",
        _ if text.contains('"') => "'",
        _ => "\"",
    };
    let mut all = OsString::from(quote);
    all.push(option);
    all.push(quote);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::jvms::LeftAlone;

    fn request<'a>(out: &'a Path, command: &'a [OsString]) -> CommandRequest<'a> {
        CommandRequest {
            library: Path::new("/a b/agent.so"),
            out,
            jvms: JvmsRequest::default(),
            command,
            input: Input::Empty,
            output: Output::Capture,
            time_limit: Some(Duration::from_secs(20)),
        }
    }

    #[test]
    fn options_of_the_user_come_after_ours() {
        let request = request(Path::new("/o,u t"), &[]);
        let text = tool_options(&request, Some("-Xmx1g".into()))
            .into_string()
            .unwrap();
        assert!(
            text.starts_with("\"-agentpath:/a b/agent.so=jvms=/o%2Cu%20t\" -XX:"),
            "{text}"
        );
        assert!(text.ends_with(" -Xmx1g"), "{text}");
        assert!(
            tool_options(&request, None)
                .to_string_lossy()
                .contains("DisableIntrinsic")
        );
    }

    /// A script in place of a JVM that outlives the command.
    #[test]
    fn a_jvm_that_the_command_left_behind_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("jvm-7");
        std::fs::create_dir(&run).unwrap();
        let jvm = Jvm {
            pid: 7,
            command: "com.shop.Main".into(),
            left_alone: None,
        };
        std::fs::write(run.join(files::JVM), serde_json::to_vec(&jvm).unwrap()).unwrap();
        std::fs::write(
            run.join(files::FINDINGS),
            "{\"kind\":\"warning\",\"text\":\"w\"}\n",
        )
        .unwrap();
        let locked = File::open(run.join(files::JVM)).unwrap();
        locked.lock().unwrap();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            drop(locked);
        });
        let alone = Jvm {
            pid: 8,
            left_alone: Some(LeftAlone::BuildTool),
            ..Jvm::default()
        };
        let run = dir.path().join("jvm-8");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join(files::JVM), serde_json::to_vec(&alone).unwrap()).unwrap();
        let told = std::cell::RefCell::new(Vec::new());
        let command = ["true".into()];
        let began = Instant::now();
        let interrupts = Interrupts::catch().unwrap();
        let done = run_command(&request(dir.path(), &command), &interrupts, &|jvms| {
            told.borrow_mut().extend(jvms.iter().map(|jvm| jvm.pid));
        })
        .unwrap();
        ends.join().unwrap();
        assert!(began.elapsed() >= Duration::from_millis(400));
        assert_eq!((done.outcome.exit, done.outcome.stopped), (Some(0), None));
        assert_eq!(*told.borrow(), [7]);
        let pids: Vec<u32> = done.jvms.iter().map(|run| run.jvm.pid).collect();
        assert_eq!(pids, [7, 8]);
        assert_eq!(done.jvms[0].findings.warnings, ["w"]);
        assert!(!done.jvms[0].alive);
    }

    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let interrupts = Interrupts::catch().unwrap();
        let run = |command: &[OsString]| {
            run_command(&request(dir.path(), command), &interrupts, &|_| {}).unwrap_err()
        };
        assert!(matches!(run(&["/nowhere/x".into()]), RunError::Process(_)));
        assert!(matches!(run(&[]), RunError::NoCommand));
    }
}
