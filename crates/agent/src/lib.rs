//! The library inside the JVM: hooks, probes, natives. The only crate with
//! unsafe code; each use says why it is sound.
//!
//! | module | holds |
//! |---|---|
//! | `hooks` | what the JVM calls us for, from load to death |
//! | `classes` | class files on their way in: rewriting, and what was left alone |
//! | `bridge`, `natives` | the Java side: its classes, its natives, the JDK's natives we stand before |
//! | `jvms` | one of several JVMs that a command starts: is it to be looked at? |
//! | `owners` | which classes are the JDK's |
//! | `sites`, `resolve` | statements, and what the fields they name turn out to be |
//! | `contexts` | statements of the JDK, told apart by the program's calls that lead there |
//! | `check` | FastTrack's slow path |
//! | `recorder` | event buffers into a trace |
//! | `direct` | events straight into one of the other detectors |
//! | `control` | runs in which a strategy says who goes on |
//! | `noise` | delays in runs that nobody controls |
//! | `hidden` | which methods lead to which locks; who is held back to show hidden races |
//! | `threads`, `stacks` | who, and from where |
//! | `findings` | what was found, on disk at once |
//! | `sampling` | which periods are watched under a budget |
//! | `orphan` | the end of the program when the tool is gone |
//! | `memory`, `jni`, `jvmti` | memory shared with compiled code; the two function tables |
//!
//! `agreement` tests that tables of names here are those of the Java side.
//!
//! Locks are taken in this order, if more than one is: `check` or `direct`,
//! then `stacks`, then `threads`; the others alone.

// The one crate with unsafe code: it talks to the JVM.
#![allow(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

/// Says something on standard error. Where that cannot be written, there is nobody to tell;
/// `eprintln!` would panic, and end the program's JVM.
macro_rules! complain {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "photofinish: {}", format_args!($($text)*));
    }};
}
pub(crate) use complain;

#[macro_use]
mod descriptors;

#[cfg(test)]
mod agreement;
mod bridge;
mod carriers;
mod check;
mod classes;
mod contexts;
mod control;
mod cut;
mod direct;
mod exchanges;
mod findings;
mod hooks;
mod jni;
mod jvms;
mod jvmti;
mod may_trigger;
mod memory;
mod natives;
mod noise;
mod options;
mod orphan;
mod owners;
mod recorder;
mod resolve;
mod sampling;
mod sites;
mod stacks;
mod threads;

use bridge::Bridge;
use check::Check;
use classes::Coverage;
use control::Control;
use direct::Direct;
use findings::Findings;
use instrument::Pattern;
use jni::{Jni, Ref};
use jni_sys::{JNI_OK, JNI_VERSION_1_8, JavaVM, JavaVMAttachArgs, jint};
use jvmti::Jvmti;
use may_trigger::Hidden;
use memory::RawClock;
use noise::Disturber;
use options::{Argument, Options};
use owners::Owners;
use protocol::{Fatal, Mode, RunEnd, Summary, files};
use recorder::Recorder;
use resolve::{Fields, Statics};
use rustc_hash::FxHashMap;
use sampling::Sampling;
use sites::{Arrays, Sites};
use stacks::Stacks;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};
use std::sync::{Mutex, Once, OnceLock};
use threads::Threads;

/// Everything, from Agent_OnLoad to the end of the process.
pub(crate) struct Agent {
    jvmti: Jvmti,
    options: Options,
    policy: instrument::Policy,
    owners: Owners,
    sites: Sites,
    coverage: Mutex<Coverage>,
    threads: Mutex<Threads>,
    stacks: Mutex<Stacks>,
    check: Mutex<Check>,
    statics: Mutex<Statics>,
    fields: Mutex<Fields>,
    arrays: Mutex<Arrays>,
    /// Classes that declare the statics of sites, by site, as signatures.
    static_owners: Mutex<FxHashMap<u32, String>>,
    findings: Findings,
    recorder: Option<Recorder>,
    direct: Option<Mutex<Direct>>,
    control: Option<Control>,
    noise: Option<Disturber>,
    hidden: Option<Hidden>,
    sampling: Option<Sampling>,
    /// Methods that lock by themselves under control, by class: reflection shows
    /// them as they were.
    unsynchronized: Mutex<FxHashMap<String, Vec<(String, String)>>>,
    vm: Vm,
    bridge: OnceLock<Bridge>,
    /// Base and scale of reference arrays.
    ref_array: OnceLock<(i64, i64)>,
    counters: Counters,
    finished: Once,
    /// Runtime.halt was called: hooks and finally blocks did not run.
    halted: AtomicBool,
    lines: cut::Lines,
    exchanges: exchanges::Exchanges,
}

/// The JVM, which outlives us.
struct Vm(*mut JavaVM);

// SAFETY: the invocation interface is made for use from any thread.
unsafe impl Send for Vm {}
// SAFETY: as for Send.
unsafe impl Sync for Vm {}

/// Counters that compiled Java code advances.
#[derive(Debug)]
struct Counters {
    slots: AtomicI32,
    seq: AtomicI64,
    ids: AtomicI64,
}

impl Counters {
    // The agent is never moved or dropped, so these addresses stay good.
    fn slots_address(&self) -> i64 {
        self.slots.as_ptr() as i64
    }

    fn seq_address(&self) -> i64 {
        self.seq.as_ptr() as i64
    }

    fn ids_address(&self) -> i64 {
        self.ids.as_ptr() as i64
    }
}

static AGENT: OnceLock<Agent> = OnceLock::new();

fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Runs `f`; a panic ends here, is said once, and the program goes on.
fn guard<T: Default>(f: impl FnOnce() -> T) -> T {
    static SAID: AtomicBool = AtomicBool::new(false);
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        if !SAID.swap(true, Ordering::Relaxed)
            && let Some(a) = agent()
        {
            a.findings
                .warn("the agent failed internally (see stderr); results are incomplete");
        }
        T::default()
    })
}

impl Agent {
    /// Ends the program before it began: we are not in control.
    fn fail(&self, why: impl Into<Fatal>) {
        give_up(Some(&self.options.out), &why.into());
        std::process::exit(70);
    }

    fn start_thread(
        &self,
        thread: Ref,
        parent: Option<RawClock>,
        system: bool,
        is_virtual: bool,
    ) -> RawClock {
        let created = match parent {
            Some(_) => self
                .stacks
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .of_maker(&self.jvmti),
            None => [].into(),
        };
        let (name, in_system) = self.jvmti.thread(thread);
        let mut threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        let clock = threads.start(parent, name, system || in_system, created, is_virtual);
        self.counters
            .slots
            .store(threads.slot_count() as i32, Ordering::Release);
        clock
    }

    /// Makes the current thread, which is one of ours, known to the JVM, as one
    /// that it need not wait for. It stays so until it ends.
    fn attach_current_thread(&self) -> Option<Jni<'static>> {
        let mut env = ptr::null_mut();
        // With a name: the JVM would give it one of the numbers that the program's threads get.
        let mut arguments = JavaVMAttachArgs {
            version: JNI_VERSION_1_8,
            name: c"photofinish".as_ptr().cast_mut(),
            group: ptr::null_mut(),
        };
        // SAFETY: a function of the JVM's own table, with arguments of its type, which it only reads.
        let attached = unsafe {
            let attach = (**self.vm.0).AttachCurrentThreadAsDaemon?;
            attach(self.vm.0, &mut env, (&raw mut arguments).cast())
        };
        let attached = attached == JNI_OK && !env.is_null();
        // SAFETY: the environment of this thread, which nobody detaches. It cannot
        // leave the thread.
        attached.then(|| unsafe { Jni::new(env.cast()) })
    }

    /// The last thing: what is buffered goes out, and a summary says that the
    /// program ended and was not killed.
    fn finish(&self) {
        self.finish_with(RunEnd::Exit);
    }

    /// `outcome` is how a run ended in which not the system alone decides.
    fn finish_with(&self, outcome: RunEnd) {
        // The second thread may end the process: it waits.
        self.finished
            .call_once_force(|_| self.write_summary(outcome));
    }

    fn write_summary(&self, outcome: RunEnd) {
        self.warn_of_few_requests();
        if let Some(recorder) = &self.recorder {
            recorder.finish(self);
        }
        // Daemon threads still run and report: one lock at a time, in no order
        // that could cross theirs.
        let races = match &self.direct {
            Some(direct) => direct.lock().unwrap_or_else(|e| e.into_inner()).races,
            None => self.check.lock().unwrap_or_else(|e| e.into_inner()).races,
        };
        let (started, forced_reuse) = {
            let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
            let of_program = threads
                .all()
                .iter()
                .filter(|t| !t.system && (t.id == 0 || t.creator.is_some()));
            (of_program.count(), threads.forced_reuse)
        };
        if forced_reuse > 0 {
            self.findings.warn(format!(
                "too many threads whose ends the others do not know of: {forced_reuse} shared places in vector clocks, so races with them may be missed",
            ));
        }
        let sites = self.sites.count();
        let sampling = self.sampling.as_ref().map(|s| s.summary(self));
        let control = self.control.as_ref().map(|c| c.summary(self, outcome));
        let hidden = self.hidden.as_ref().map(|hidden| {
            let serial = self.control.as_ref().and_then(Control::hidden_counts);
            hidden.finish(&self.options.out, serial)
        });
        let coverage = self.coverage.lock().unwrap_or_else(|e| e.into_inner());
        let halted = self.halted.load(Ordering::Acquire);
        self.findings.summary(&Summary {
            ended: match outcome {
                RunEnd::Exit if halted => RunEnd::Halt,
                outcome => outcome,
            },
            classes_seen: coverage.seen,
            classes_instrumented: coverage.instrumented,
            classes_checked: coverage.checked,
            methods_skipped: coverage.skipped,
            missing_models: coverage.missing_models.clone(),
            events: self.recorder.as_ref().map(Recorder::events),
            threads: started as u64,
            sites: sites as u64,
            races,
            launcher_complained: coverage.launcher_complained,
            control,
            hidden,
            sampling,
        });
    }
}

/// Called by the JVM when the library is loaded, before anything runs.
///
/// # Safety
/// The JVM passes itself and a NUL-terminated string or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *mut c_char,
    _: *mut c_void,
) -> jint {
    let text = if options.is_null() {
        String::new()
    } else {
        // SAFETY: a NUL-terminated string, says the caller.
        unsafe { CStr::from_ptr(options) }
            .to_string_lossy()
            .into_owned()
    };
    // SAFETY: the JVM, says the caller.
    match guard(|| Some(unsafe { load(vm, &text) })) {
        Some(Ok(())) => JNI_OK,
        Some(Err(NotLoaded { why, out, go_on })) => {
            give_up(out.as_deref(), &why);
            // A JVM of somebody's command does its work without us, if we have not begun.
            match go_on && agent().is_none() {
                true => JNI_OK,
                false => 1,
            }
        }
        None => 1,
    }
}

/// Why the agent gives up, and where to say so.
struct NotLoaded {
    why: Fatal,
    out: Option<PathBuf>,
    /// The program is to run without us.
    go_on: bool,
}

/// Says why, on stderr and to the driver.
fn give_up(out: Option<&Path>, why: &Fatal) {
    crate::complain!("{}", why.why);
    if let (Some(out), Ok(text)) = (out, serde_json::to_vec(why)) {
        let _ = std::fs::write(out.join(files::FATAL), text);
    }
}

/// # Safety
/// `vm` must be the JVM.
unsafe fn load(vm: *mut JavaVM, text: &str) -> Result<(), NotLoaded> {
    let not_loaded = |out: Option<PathBuf>, go_on| move |why: Fatal| NotLoaded { why, out, go_on };
    let argument = options::argument(text).map_err(|e| not_loaded(None, false)(e.into()))?;
    // SAFETY: the JVM, says the caller.
    let jvmti = unsafe { environment(vm) };
    match argument {
        Argument::Run(out) => {
            let loaded = jvmti.and_then(|jvmti| {
                let options = Options::read(out.clone())?;
                // SAFETY: the JVM, says the caller.
                unsafe { start(vm, jvmti, options, &out) }
            });
            loaded.map_err(not_loaded(Some(out), false))
        }
        // Named twice, by a command that runs under the tool and by the build that it starts.
        Argument::Jvms(_) if agent().is_some() => Ok(()),
        Argument::Jvms(root) => {
            let jvmti = jvmti.map_err(not_loaded(None, true))?;
            let property = |name| jvmti.system_property(name).unwrap_or_default();
            let facts = jvms::Facts {
                command: property(c"sun.java.command"),
                version: property(c"java.vm.specification.version"),
            };
            let entered = jvms::enter(&root, facts);
            let entered = entered.map_err(|e| not_loaded(None, true)(e.into()))?;
            let Some((out, request)) = entered else {
                return Ok(());
            };
            let options = Options::new(out.clone(), request);
            let loaded = options.map_err(Fatal::from).and_then(|mut options| {
                options.is_in_all_jvms = options::is_inherited(text);
                // SAFETY: the JVM, says the caller.
                unsafe { start(vm, jvmti, options, &root) }
            });
            loaded.map_err(not_loaded(Some(out), true))
        }
    }
}

/// # Safety
/// `vm` must be the JVM.
unsafe fn environment(vm: *mut JavaVM) -> Result<Jvmti, Fatal> {
    let mut env: *mut c_void = ptr::null_mut();
    // SAFETY: GetEnv of the JVM's own table.
    let got = unsafe { ((**vm).GetEnv.ok_or("no GetEnv")?)(vm, &mut env, jvmti::VERSION) };
    if got != JNI_OK || env.is_null() {
        return Err(Fatal::java(
            "this JVM has no JVMTI 9; use HotSpot 17 or later",
        ));
    }
    // SAFETY: just got with a JVMTI version.
    Ok(unsafe { Jvmti::new(env.cast()) })
}

/// `tool`: where the tool says that it waits for the program.
///
/// # Safety
/// `vm` must be the JVM.
unsafe fn start(
    vm: *mut JavaVM,
    jvmti: Jvmti,
    mut options: Options,
    tool: &Path,
) -> Result<(), Fatal> {
    let findings = Findings::create(&options.out, options.control.is_worker()).map_err(|e| {
        format!(
            "cannot write to the run directory {}: {e}",
            options.out.display()
        )
    })?;
    if let Err(why) = orphan::watch(tool) {
        findings.warn(why);
    }
    let recorder = match (&options.trace, options.mode) {
        (Some(path), Mode::Record | Mode::Full) => Some(Recorder::create(
            path,
            &jvmti
                .system_property(c"java.vm.version")
                .unwrap_or_default(),
            options.control.is_on(),
        )?),
        _ => None,
    };
    let hidden = Hidden::new(&mut options)?;
    let control = match options.control.is_on() {
        true => {
            let plan = hidden.as_ref().map(|h| h.plan.clone());
            Some(Control::new(options.control.clone(), plan)?)
        }
        false => None,
    };
    let noise = (options.control.is_noise()).then(|| Disturber::new(options.control.seed));
    let agent = Agent {
        control,
        noise,
        hidden,
        sampling: options.budget.map(Sampling::new),
        unsynchronized: Mutex::default(),
        vm: Vm(vm),
        jvmti,
        policy: instrument::Policy {
            exclude_of_jdk: { options.exclude_of_jdk.iter() }
                .map(|text| Pattern::new(text))
                .collect(),
            check_unshared: options.check_unshared,
            untracked: options.untracked.clone(),
            sampled: options.budget.is_some(),
            ..instrument::Policy::new(&options.include, &options.exclude, &options.trusted)
        },
        owners: Owners::default(),
        direct: Direct::new(options.mode).map(Mutex::new),
        sites: Sites::new(),
        coverage: Mutex::default(),
        threads: Mutex::new(Threads::new(options.mode.makes_events())),
        stacks: Mutex::default(),
        check: Mutex::default(),
        statics: Mutex::default(),
        fields: Mutex::default(),
        arrays: Mutex::default(),
        static_owners: Mutex::default(),
        options,
        findings,
        recorder,
        bridge: OnceLock::new(),
        ref_array: OnceLock::new(),
        counters: Counters {
            slots: AtomicI32::new(0),
            seq: AtomicI64::new(trace::raw::FIRST_SEQ as i64),
            ids: AtomicI64::new(1),
        },
        finished: Once::new(),
        halted: AtomicBool::new(false),
        lines: cut::Lines::default(),
        exchanges: exchanges::Exchanges::default(),
    };
    if AGENT.set(agent).is_err() {
        return Err("the agent is loaded twice".into());
    }
    hooks::install(AGENT.get().ok_or("unreachable")?)
}
