//! What the agent is told: `-agentpath:<library>=<key=value,...>`.
//!
//! Values are percent-encoded, so that a directory may have a comma in its
//! name; lists are encoded item by item and joined with `:`. The JVM flags that
//! every run gets stand here too, with their reasons.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
    // Identity hashes that count up instead of random ones: a run repeats.
    "-XX:hashCode=3",
    // A file that the JVM keeps about itself, of no use to anybody here.
    "-XX:-UsePerfData",
];

/// Further flags of executions that are part of an exploration: they are short
/// and many.
const EXPLORE_FLAGS: &[&str] = &[
    // Objects are counted as they are made, whether or not they could be done
    // without.
    "-XX:-DoEscapeAnalysis",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
];

/// The flags for a run.
pub fn jvm_flags(options: &AgentOptions) -> Vec<String> {
    let serial = options.control.as_ref().is_some_and(Control::serial);
    let mut off = format!("-XX:DisableIntrinsic={ARRAY_INTRINSICS}");
    let mut add = |names: &str| {
        off.push(',');
        off.push_str(names);
    };
    if options.mode != Mode::FastTrack || serial {
        add(NOTIFY_INTRINSICS);
    }
    if serial {
        add(CONTROL_INTRINSICS);
    }
    let more = if serial { CONTROL_FLAGS } else { &[] };
    let explores = options
        .control
        .as_ref()
        .is_some_and(|c| c.explore.is_some() || c.worker);
    let few = if explores { EXPLORE_FLAGS } else { &[] };
    let flags = FLAGS.iter().chain(more).chain(few);
    let flags = flags.map(|flag| flag.to_string());
    // Controlled threads share one processor; the program is to see them all.
    let processors = std::thread::available_parallelism()
        .ok()
        .filter(|_| serial)
        .map(|n| format!("-XX:ActiveProcessorCount={n}"));
    flags.chain([off]).chain(processors).collect()
}

/// What the agent does with the events of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    FastTrack,
    Hybrid,
    Lockset,
    H,
    Record,
    /// The same with the control flow, for prediction.
    Full,
    /// No detector: the run is only controlled.
    None,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::FastTrack => "fasttrack",
            Mode::Hybrid => "hybrid",
            Mode::Lockset => "lockset",
            Mode::H => "h",
            Mode::Record => "record",
            Mode::Full => "full",
            Mode::None => "none",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        use Mode::{FastTrack, Full, H, Hybrid, Lockset, None, Record};
        let all = [FastTrack, Hybrid, Lockset, H, Record, Full, None];
        all.into_iter().find(|mode| mode.name() == name)
    }
}

/// A statement that a strategy is to stop at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statement {
    /// One instruction; the class by its internal name.
    Exact {
        class: String,
        method: String,
        desc: String,
        bci: u32,
    },
    /// Every access on a line.
    Line { file: String, line: u32 },
    /// Every access to a field of this name, in the program and in java.util.
    Field { name: String },
    /// There, every access to elements of arrays that hold this: a descriptor's
    /// letter, `L` for all references and `B` for booleans too.
    Elements { of: char },
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Statement::Exact {
                class,
                method,
                desc,
                bci,
            } => write!(f, "{class}#{method}#{desc}#{bci}"),
            Statement::Line { file, line } => write!(f, "{file}:{line}"),
            Statement::Field { name } => write!(f, "*#field#{name}"),
            Statement::Elements { of } => write!(f, "*#elements#{of}"),
        }
    }
}

impl std::str::FromStr for Statement {
    type Err = String;

    fn from_str(text: &str) -> Result<Statement, String> {
        let parts: Vec<&str> = text.split('#').collect();
        if let [class, method, desc, bci] = parts[..] {
            return Ok(Statement::Exact {
                class: class.to_owned(),
                method: method.to_owned(),
                desc: desc.to_owned(),
                bci: bci
                    .parse()
                    .map_err(|_| format!("{bci:?} in {text:?} is no number"))?,
            });
        }
        match parts[..] {
            ["*", "field", name] => {
                let name = name.to_owned();
                return Ok(Statement::Field { name });
            }
            ["*", "elements", of] if of.len() == 1 => {
                let of = of.chars().next().unwrap_or('L');
                return Ok(Statement::Elements { of });
            }
            _ => {}
        }
        let line = text
            .rsplit_once(':')
            .filter(|(file, _)| !file.is_empty())
            .and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line {
            Some((file, line)) => Ok(Statement::Line {
                file: file.to_owned(),
                line,
            }),
            None => Err(format!("{text:?} is no statement; write File.java:12")),
        }
    }
}

/// May-trigger scheduling of a program that runs freely otherwise.
pub const FREE: &str = "drfinder-free";
/// No strategy at all: the run only collects the may-trigger relation.
pub const COLLECT: &str = "drfinder-collect";

/// Who decides which thread runs, when that is not the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// A strategy's name: `random`, `pct`, ..., or `replay`.
    pub strategy: String,
    pub seed: u64,
    /// Of PCT; the strategy's own if absent.
    pub depth: Option<u32>,
    pub steps: Option<u64>,
    /// What the virtual clock says at the start, in milliseconds since 1970.
    pub clock: Option<i64>,
    /// The two statements to bring together.
    pub pair: Option<[Vec<Statement>; 2]>,
    /// Where the schedule is written down.
    pub log: Option<PathBuf>,
    /// The schedule to follow.
    pub replay: Option<PathBuf>,
    pub max_steps: Option<u64>,
    /// Seconds after which a run that does not get on is ended.
    pub watchdog: Option<u64>,
    /// The processor that its threads share; any, if absent.
    pub cpu: Option<usize>,
    /// A debugger is attached and stops threads where it likes.
    pub debugger: bool,
    /// The may-trigger relation of an earlier run, and how many frames it looks at.
    pub relation: Option<PathBuf>,
    pub frames: Option<u32>,
    /// The job of an exploration that the run is to do.
    pub explore: Option<PathBuf>,
    /// It makes one execution of an exploration after the other, as it is told.
    pub worker: bool,
}

impl Control {
    pub fn new(strategy: &str, seed: u64) -> Control {
        Control {
            strategy: strategy.to_owned(),
            seed,
            depth: None,
            steps: None,
            clock: None,
            pair: None,
            log: None,
            replay: None,
            max_steps: None,
            watchdog: None,
            cpu: None,
            debugger: false,
            relation: None,
            frames: None,
            explore: None,
            worker: false,
        }
    }

    /// Whether one thread runs at a time; ConTest only makes noise, and a free
    /// DrFinder holds threads back here and there.
    pub fn serial(&self) -> bool {
        !matches!(self.strategy.as_str(), "contest" | FREE | COLLECT)
    }

    fn argument(&self) -> String {
        let mut text = match self.strategy.as_str() {
            COLLECT => ",collect=1".to_owned(),
            name => format!(",control={},seed={}", encode(OsStr::new(name)), self.seed),
        };
        let numbers = [
            ("depth", self.depth.map(|n| n.to_string())),
            ("steps", self.steps.map(|n| n.to_string())),
            ("clock", self.clock.map(|n| n.to_string())),
            ("maxsteps", self.max_steps.map(|n| n.to_string())),
            ("watchdog", self.watchdog.map(|n| n.to_string())),
            ("cpu", self.cpu.map(|n| n.to_string())),
            ("frames", self.frames.map(|n| n.to_string())),
            ("worker", self.worker.then(|| "1".to_owned())),
            ("debugger", self.debugger.then(|| "1".to_owned())),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                text += &format!(",{key}={value}");
            }
        }
        if let Some(sides) = &self.pair {
            text += &format!(",pair={}", pair_text(sides));
        }
        for (key, path) in [
            ("log", &self.log),
            ("replay", &self.replay),
            ("relation", &self.relation),
            ("explore", &self.explore),
        ] {
            if let Some(path) = path {
                text += &format!(",{key}={}", encode(path.as_os_str()));
            }
        }
        text
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The run directory; it exists.
    pub out: PathBuf,
    pub mode: Mode,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked.
    pub untracked: Vec<String>,
    /// Check also what no other thread can know.
    pub check_unshared: bool,
    /// Where a recording goes.
    pub trace: Option<PathBuf>,
    /// Changes of the program to try, as the agent takes them.
    pub repairs: Vec<String>,
    /// None: the operating system decides who runs.
    pub control: Option<Control>,
}

impl AgentOptions {
    /// The JVM argument that loads the agent with these options.
    pub fn argument(&self, library: &Path) -> OsString {
        let mut text = OsString::from("-agentpath:");
        text.push(library);
        text.push(format!(
            "=out={},mode={}",
            encode(self.out.as_os_str()),
            self.mode.name()
        ));
        let lists = [
            ("include", &self.include),
            ("exclude", &self.exclude),
            ("trusted", &self.trusted),
            ("untracked", &self.untracked),
            ("repair", &self.repairs),
        ];
        for (key, list) in lists {
            if !list.is_empty() {
                let items: Vec<String> = list.iter().map(|i| encode(OsStr::new(i))).collect();
                text.push(format!(",{key}={}", items.join(":")));
            }
        }
        if self.check_unshared {
            text.push(",unshared=check");
        }
        if let Some(trace) = &self.trace {
            text.push(format!(",trace={}", encode(trace.as_os_str())));
        }
        if let Some(control) = &self.control {
            text.push(control.argument());
        }
        text
    }
}

/// A pair as the agent takes it, and as it stands in schedules.
fn pair_text(sides: &[Vec<Statement>; 2]) -> String {
    let sides = sides.each_ref().map(|side| {
        let encoded = |statement: &Statement| encode(OsStr::new(&statement.to_string()));
        side.iter().map(encoded).collect::<Vec<_>>().join("|")
    });
    sides.join(";")
}

/// The pair of a schedule; `None` if it has none, or none that makes sense.
pub fn read_pair(text: &str) -> Option<[Vec<Statement>; 2]> {
    let side = |text: &str| {
        let statements = text.split('|').map(|s| decode(s)?.parse().ok());
        statements.collect::<Option<Vec<_>>>()
    };
    let (a, b) = text.split_once(';')?;
    Some([side(a)?, side(b)?])
}

fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digit = |b: u8| char::from(b).to_digit(16);
                let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

/// Percent-encodes every byte but those that mean nothing to us, to the JVM's
/// option parser or to a shell.
fn encode(value: &OsStr) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(value.len());
    for &byte in value.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                text.push(char::from(byte));
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_argument_as_the_agent_reads_it() {
        let options = AgentOptions {
            out: "/tmp/a,b=c".into(),
            mode: Mode::Record,
            include: vec!["com.shop.**".into(), "x:y".into()],
            exclude: vec![],
            trusted: vec!["java.util".into()],
            untracked: vec!["a.B.c".into(), "D.*".into()],
            check_unshared: true,
            trace: Some("/t 1.pft".into()),
            repairs: vec![],
            control: None,
        };
        assert_eq!(
            options.argument(Path::new("/c/agent.so")),
            "-agentpath:/c/agent.so=out=/tmp/a%2Cb%3Dc,mode=record,\
             include=com.shop.%2A%2A:x%3Ay,trusted=java.util,untracked=a.B.c:D.%2A,unshared=check,trace=/t%201.pft"
        );
    }

    #[test]
    fn control_as_the_agent_reads_it() {
        let line = |line| Statement::Line {
            file: "A.java".into(),
            line,
        };
        let exact = Statement::Exact {
            class: "a/B$C".into(),
            method: "<init>".into(),
            desc: "(I)V".into(),
            bci: 7,
        };
        let mut options = AgentOptions {
            out: "/o".into(),
            mode: Mode::None,
            include: vec![],
            exclude: vec![],
            trusted: vec![],
            untracked: vec![],
            check_unshared: false,
            trace: None,
            repairs: vec![],
            control: Some(Control {
                pair: Some([vec![line(3), exact], vec![line(4)]]),
                log: Some("/l".into()),
                watchdog: Some(60),
                ..Control::new("racefuzzer", 9)
            }),
        };
        assert_eq!(
            options.argument(Path::new("/a.so")),
            "-agentpath:/a.so=out=/o,mode=none,control=racefuzzer,seed=9,watchdog=60,\
             pair=A.java%3A3|a/B%24C%23%3Cinit%3E%23%28I%29V%237;A.java%3A4,log=/l"
        );
        let has = |options: &AgentOptions, text: &str| {
            jvm_flags(options).iter().any(|flag| flag.contains(text))
        };
        assert!(has(&options, "_identityHashCode") && has(&options, "hashCode=3"));
        options.control = Some(Control::new("contest", 1));
        assert!(!has(&options, "hashCode"), "a free-running program");
    }

    #[test]
    fn statements_are_read_as_they_are_written() {
        for text in [
            "*#field#total",
            "*#elements#J",
            "A.java:12",
            "a/B$C#<init>#(I)V#7",
        ] {
            assert_eq!(text.parse::<Statement>().unwrap().to_string(), text);
        }
        for bad in ["", "A.java", ":3", "A.java:x", "a#b#c", "a#b#c#d"] {
            assert!(bad.parse::<Statement>().is_err(), "{bad}");
        }
        let pair = ["A.java:1|B.java:2", "a/B$C#m#()V#1"].map(|side| {
            let side = side.split('|').map(|s| s.parse().unwrap());
            side.collect::<Vec<Statement>>()
        });
        assert_eq!(read_pair(&pair_text(&pair)), Some(pair));
        assert_eq!(read_pair(""), None);
        assert_eq!(read_pair("A%2"), None);
    }

    #[test]
    fn modes_by_name() {
        assert_eq!(Mode::named("hybrid"), Some(Mode::Hybrid));
        assert_eq!(Mode::named("none"), Some(Mode::None));
        assert_eq!(Mode::named("magic"), None);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(wanted in any::<String>()) {
            let text = encode(OsStr::new(&wanted));
            prop_assert!(!text.contains([',', '=', ':', ' ', ';', '|']));
            prop_assert_eq!(decode(&text), Some(wanted));
        }

        #[test]
        fn any_pair_can_be_read_or_not(text in "[%;|#:a-f0-9]{0,30}") {
            read_pair(&text);
        }
    }
}
