//! What a run is asked, `request.json`. Whatever is absent has a default, so that
//! the agent also works when somebody loads it by hand.

use detect::{DETECTORS, Kind, fasttrack, hybrid};
use encoding::percent;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRequest {
    pub mode: Mode,
    /// Class patterns, see `instrument::policy`.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked.
    pub untracked: Vec<String>,
    /// Check also what no other thread can know.
    pub check_unshared: bool,
    /// Where a recording goes.
    pub trace: Option<PathBuf>,
    /// Changes of the program to try, as `instrument::repair` writes them.
    pub repairs: Vec<String>,
    /// None: the operating system decides who runs.
    pub control: Option<Control>,
    /// Where a program that does not end by itself, or not soon, is ended.
    pub cut: Cut,
    /// What looking for races may cost; none: whatever it does.
    pub budget: Option<Budget>,
}

/// How much processor time looking for races may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// In hundredths of a percent of what the program takes without.
    pub hundredths: u32,
    /// Periods of up to so many microseconds follow each other, whatever they cost: for tests.
    #[serde(default)]
    pub turns: Option<u32>,
}

impl std::str::FromStr for Budget {
    type Err = String;

    /// `10%`, `10`, `2.5%`.
    fn from_str(text: &str) -> Result<Budget, String> {
        let number = text.trim().trim_end_matches('%').trim_end();
        let percent: f64 = number
            .parse()
            .map_err(|_| format!("{text:?} is no percentage; write 10%"))?;
        match percent {
            percent if (0.01..=100_000.0).contains(&percent) => Ok(Budget {
                hundredths: (percent * 100.0).round() as u32,
                turns: None,
            }),
            _ => Err("a budget is between 0.01% and 100000%".to_owned()),
        }
    }
}

/// A run is ended as if the program had ended it, with exit code 0, but without its hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cut {
    /// When a line that it prints contains this text, where `*` stands for anything,
    pub text: Option<String>,
    /// or when its clock has advanced by so many milliseconds,
    pub millis: Option<u64>,
    /// or when it has begun to answer so many requests.
    pub requests: Option<u64>,
}

impl Cut {
    pub fn is_none(&self) -> bool {
        *self == Cut::default()
    }
}

/// What the agent does with the events of the run. In JSON the name of a detector,
/// `record`, `full` or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Mode {
    /// It looks for races.
    Detect(Kind),
    Record,
    /// The same with the control flow, for prediction.
    Full,
    /// No detector: the run is only controlled.
    None,
}

impl Mode {
    /// The detector that the agent does on the spot, in compiled code.
    pub const FASTTRACK: Mode = Mode::Detect(fasttrack::KIND);
    pub const HYBRID: Mode = Mode::Detect(hybrid::KIND);

    pub fn name(self) -> &'static str {
        match self {
            Mode::Detect(kind) => kind.name(),
            Mode::Record => "record",
            Mode::Full => "full",
            Mode::None => "none",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        let others = [Mode::Record, Mode::Full, Mode::None].into_iter();
        let detectors = DETECTORS.iter().map(|kind| Mode::Detect(*kind));
        others.chain(detectors).find(|mode| mode.name() == name)
    }

    /// Whether accesses become events instead of being checked on the spot.
    pub fn makes_events(self) -> bool {
        self != Mode::FASTTRACK && self != Mode::None
    }

    /// Whether the run is recorded.
    pub fn records(self) -> bool {
        matches!(self, Mode::Record | Mode::Full)
    }
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::FASTTRACK
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> String {
        mode.name().to_owned()
    }
}

impl TryFrom<String> for Mode {
    type Error = String;

    fn try_from(name: String) -> Result<Mode, String> {
        Mode::named(&name).ok_or_else(|| format!("there is no mode {name:?}"))
    }
}

/// Who decides which thread runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// One of the registry of schedulers, by its name.
    Named(String),
    /// The schedule in this file is followed.
    Replay(PathBuf),
    /// This course (`schedule::reduce`), and without preemptions after it; the log tells accesses
    /// with their values.
    Steer(String),
    /// The same along the schedule in this file, which may have had fewer scheduling points.
    Follow(PathBuf),
    /// An execution of an exploration; its job is in this file. A worker has none, and
    /// is told its jobs.
    Explore(Option<PathBuf>),
    /// The operating system; the run only collects the may-trigger relation.
    Collect,
}

/// How schedules and reports call what replays one, and what explores.
pub const REPLAY: &str = "replay";
pub const EXPLORE: &str = "explore";

impl Scheduler {
    pub fn name(&self) -> &str {
        match self {
            Scheduler::Named(name) => name,
            Scheduler::Replay(_) => REPLAY,
            Scheduler::Steer(_) => "steer",
            Scheduler::Follow(_) => "follow",
            Scheduler::Explore(_) => EXPLORE,
            Scheduler::Collect => "drfinder-collect",
        }
    }
}

impl From<&str> for Scheduler {
    fn from(name: &str) -> Scheduler {
        Scheduler::Named(name.to_owned())
    }
}

/// How threads are scheduled, when not by the operating system alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    pub scheduler: Scheduler,
    /// One execution after the other: the JVM is a worker, which is told of them on its
    /// socket ([`crate::execution`]).
    #[serde(default)]
    pub worker: bool,
    /// Of a worker: every execution loads the program's classes anew.
    #[serde(default)]
    pub new_classes: bool,
    #[serde(default)]
    pub seed: u64,
    /// Of PCT; the strategy's own if absent.
    #[serde(default)]
    pub depth: Option<u32>,
    #[serde(default)]
    pub steps: Option<u64>,
    /// What the virtual clock says at the start, in milliseconds since 1970.
    #[serde(default)]
    pub clock: Option<i64>,
    /// The two statements to bring together, each in all its places.
    #[serde(default)]
    pub pair: Option<[Vec<Statement>; 2]>,
    /// Where the schedule is written down.
    #[serde(default)]
    pub log: Option<PathBuf>,
    #[serde(default)]
    pub max_steps: Option<u64>,
    /// One step of so many wakes a thread for no reason; absent: never.
    #[serde(default)]
    pub spurious: Option<u64>,
    /// Seconds after which a run that does not get on is ended.
    #[serde(default)]
    pub watchdog: Option<u64>,
    /// A debugger is attached and stops threads where it likes.
    #[serde(default)]
    pub debugger: bool,
    /// The may-trigger relation of an earlier run, and how many frames it looks at.
    #[serde(default)]
    pub relation: Option<PathBuf>,
    #[serde(default)]
    pub frames: Option<u32>,
    /// Of a worker: in what its executions differ. Where there is none, they are as is said
    /// above.
    #[serde(default)]
    pub variants: Vec<Variant>,
}

/// In what executions of one worker may differ besides their seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// One of the registry of schedulers, by its name.
    pub scheduler: String,
    pub pair: Option<[Vec<Statement>; 2]>,
}

impl Control {
    pub fn new(scheduler: impl Into<Scheduler>, seed: u64) -> Control {
        Control {
            scheduler: scheduler.into(),
            worker: false,
            new_classes: false,
            seed,
            depth: None,
            steps: None,
            clock: None,
            pair: None,
            log: None,
            max_steps: None,
            spurious: None,
            watchdog: None,
            debugger: false,
            relation: None,
            frames: None,
            variants: Vec::new(),
        }
    }
}

/// A statement of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
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
    /// As `Field`; reads may see older writes, where the memory model allows it.
    WeakField { name: String },
    /// As `Elements`, likewise.
    WeakElements { of: char },
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
            Statement::WeakField { name } => write!(f, "*#weak-field#{name}"),
            Statement::WeakElements { of } => write!(f, "*#weak-elements#{of}"),
        }
    }
}

impl From<Statement> for String {
    fn from(statement: Statement) -> String {
        statement.to_string()
    }
}

impl TryFrom<String> for Statement {
    type Error = String;

    fn try_from(text: String) -> Result<Statement, String> {
        text.parse()
    }
}

impl std::str::FromStr for Statement {
    type Err = String;

    fn from_str(text: &str) -> Result<Statement, String> {
        match text.split('#').collect::<Vec<&str>>()[..] {
            [class, method, desc, bci] => {
                return Ok(Statement::Exact {
                    class: class.to_owned(),
                    method: method.to_owned(),
                    desc: desc.to_owned(),
                    bci: bci
                        .parse()
                        .map_err(|_| format!("{bci:?} in {text:?} is no number"))?,
                });
            }
            ["*", "field", name] => {
                let name = name.to_owned();
                return Ok(Statement::Field { name });
            }
            ["*", "weak-field", name] => {
                let name = name.to_owned();
                return Ok(Statement::WeakField { name });
            }
            ["*", how @ ("elements" | "weak-elements"), of] if of.len() == 1 => {
                let of = of.chars().next().unwrap_or('L');
                return Ok(match how {
                    "elements" => Statement::Elements { of },
                    _ => Statement::WeakElements { of },
                });
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

/// A pair as it stands in the header of a schedule log.
pub fn pair_text(sides: &[Vec<Statement>; 2]) -> String {
    let sides = sides.each_ref().map(|side| {
        let encoded = |statement: &Statement| percent::encode(statement.to_string().as_bytes());
        side.iter().map(encoded).collect::<Vec<_>>().join("|")
    });
    sides.join(";")
}

/// The pair of a schedule; `None` if it has none, or none that makes sense.
pub fn read_pair(text: &str) -> Option<[Vec<Statement>; 2]> {
    let statement = |text: &str| String::from_utf8(percent::decode(text)?).ok()?.parse().ok();
    let side = |text: &str| text.split('|').map(statement).collect::<Option<Vec<_>>>();
    let (a, b) = text.split_once(';')?;
    Some([side(a)?, side(b)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_request_is_one() {
        let nothing: RunRequest = serde_json::from_str("{}").unwrap();
        assert_eq!(nothing, RunRequest::default());
        assert_eq!(nothing.mode.name(), "fasttrack");
    }

    #[test]
    fn budgets_are_percentages() {
        let hundredths = |text: &str| text.parse::<Budget>().map(|b| b.hundredths);
        for (text, wanted) in [
            ("10%", 1000),
            ("10", 1000),
            (" 2.5 %", 250),
            ("300%", 30_000),
        ] {
            assert_eq!(hundredths(text), Ok(wanted), "{text}");
        }
        for bad in ["", "%", "0", "-5%", "NaN", "inf%", "ten", "1e9", "0.001%"] {
            assert!(hundredths(bad).is_err(), "{bad}");
        }
        let request: RunRequest = serde_json::from_str(r#"{"budget":{"hundredths":7}}"#).unwrap();
        let budget = Budget {
            hundredths: 7,
            turns: None,
        };
        assert_eq!(request.budget, Some(budget));
    }

    #[test]
    fn a_request_comes_back() {
        let exact = Statement::Exact {
            class: "a/B$C".into(),
            method: "<init>".into(),
            desc: "(I)V".into(),
            bci: 7,
        };
        let request = RunRequest {
            mode: Mode::None,
            include: vec!["com.shop.**".into(), "x,y".into()],
            control: Some(Control {
                pair: Some([vec![exact], vec![]]),
                watchdog: Some(60),
                ..Control::new(Scheduler::Replay("/a b.pfs".into()), 9)
            }),
            ..RunRequest::default()
        };
        let text = serde_json::to_string(&request).unwrap();
        assert!(text.contains(r##""a/B$C#<init>#(I)V#7""##), "{text}");
        assert_eq!(serde_json::from_str::<RunRequest>(&text).unwrap(), request);
    }

    #[test]
    fn modes_by_name() {
        for name in [
            "fasttrack",
            "hybrid",
            "lockset",
            "h",
            "record",
            "full",
            "none",
        ] {
            let mode = Mode::named(name).unwrap();
            let text = serde_json::to_string(&mode).unwrap();
            assert_eq!(text, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<Mode>(&text).unwrap(), mode);
        }
        assert_eq!(Mode::named("magic"), None);
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

    proptest! {
        #[test]
        fn any_pair_can_be_read_or_not(text in "[%;|#:a-f0-9]{0,30}") {
            read_pair(&text);
        }
    }
}
