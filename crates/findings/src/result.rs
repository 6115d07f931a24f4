//! The result of a command: what `--json` writes and `photofinish report`
//! reads again. Scripts rely on it; `docs/report.md` describes it. The number
//! in [`SCHEMA`] changes when a member is renamed or removed, not when one is
//! added. Members this version does not know are kept as they came, so that an
//! older tool can render and pass on a newer file.

use crate::advice::{Occurrence, RepairSet, Suggestion};
use crate::baseline::Baseline;
use crate::confirmed::{
    Deadlock, Failure, Harm, Outcome, ReferenceRuns, Replay, ReplayVerdict, Trials,
};
use crate::exploration::{Exploration, Schedules, WeakFinding};
use crate::finding::{AccessOp, Frame, Location, Skipped};
use crate::group::Finding;
use crate::prediction::{AtomicityViolation, Engine, Property, PropertyStatus, Witness};
use crate::sampling::Sampling;
use crate::shard::Parts;
use crate::story::StoryLine;
use crate::suppress::Suppressed;
use detect::{Claim, Kind};
pub use protocol::RunEnd;
pub use protocol::summary::Hidden;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the JSON layout.
pub const SCHEMA: u32 = 1;

/// What is known of a race. Ordered by strength: the strongest wins when
/// several detectors or runs report the same race.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Suspicion: no common lock, but no proof that both can meet.
    Potential,
    /// A checked witness: a reordering of the run in which they meet.
    Predicted,
    /// Two accesses unordered by happens-before in a real run.
    Observed,
    /// Made to happen side by side, replayable.
    Confirmed,
}

impl Status {
    /// What a finding of this detector is worth.
    pub fn of_detector(detector: &str) -> Status {
        match Kind::named(detector).map(Kind::claim) {
            Some(Claim::Observed) => Status::Observed,
            Some(Claim::Suspected) | None => Status::Potential,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Status::Potential => "potential",
            Status::Predicted => "predicted",
            Status::Observed => "observed",
            Status::Confirmed => "confirmed",
        }
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    pub op: AccessOp,
    /// The thread's name.
    pub thread: String,
    #[serde(default)]
    pub thread_id: u64,
    /// The stack of the call that started the thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread_created: Vec<Frame>,
    /// The statement.
    #[serde(flatten)]
    pub at: Frame,
    /// Absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<String>>,
    /// Innermost frame first.
    #[serde(default)]
    pub stack: Vec<Frame>,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub stack_exact: bool,
    /// Of an access inside the JDK: fields of the program's that hold what its call is
    /// about, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Location>,
}

fn yes() -> bool {
    true
}

fn is_true(b: &bool) -> bool {
    *b
}

fn is_false(b: &bool) -> bool {
    !b
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = crate::schema::evidence)]
pub struct Race {
    #[schemars(regex(pattern = r"^[A-Z][0-9]+$"))]
    pub id: String,
    /// Stable across line-number changes: see `crate::fingerprint`.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub fingerprint: String,
    pub location: Location,
    pub status: Status,
    #[schemars(length(min = 1))]
    pub found_by: Vec<String>,
    /// The earlier access of the run first.
    pub accesses: [Access; 2],
    /// Where the object that holds the field was allocated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Frame>,
    /// How often it was seen, over all runs.
    #[serde(default)]
    pub count: u64,
    /// In how many runs it was seen.
    #[serde(default)]
    pub runs: u64,
    /// The first of them, counted from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_run: u64,
    /// All instructions that took part, where they are more than the two
    /// above: a line may hold several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Frame>,
    /// What came of it when it was made to happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
    /// Attempts to make it happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<Trials>,
    /// Of a race that was made to happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<Harm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// Of a prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Repairs, the best first; absent before `advise`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<Vec<Suggestion>>,
    /// The shortest run that shows it, in a few lines.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::story::lenient"
    )]
    pub story: Vec<StoryLine>,
    /// How it came about in a run that `advise` looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<Occurrence>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Race {
    /// Repairs that were suggested.
    pub fn suggestions(&self) -> &[Suggestion] {
        self.advice.as_deref().unwrap_or_default()
    }

    /// A mere suspicion is shown, but is no finding.
    pub fn is_finding(&self) -> bool {
        self.status > Status::Potential
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// What follows `java`.
    pub args: Vec<String>,
    /// `args` is a whole command, which started the JVMs that were looked at.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exec: bool,
    /// Exit code of the last run; null when a signal ended it.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Digest of what the last run wrote to standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9a-f]*$"))]
    pub output_sha256: Option<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The JVM that a run was in, if a command started several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Jvm {
    pub pid: u32,
    /// Main class or jar with the arguments; empty if it has none.
    #[serde(default)]
    pub command: String,
}

impl Jvm {
    /// The main class, or the name of the jar.
    pub fn name(&self) -> &str {
        let first = self.command.split_whitespace().next().unwrap_or_default();
        match first.rsplit('/').next().unwrap_or_default() {
            "" => "a JVM without a main class",
            name => name,
        }
    }
}

/// A JVM that was not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedJvm {
    #[serde(flatten)]
    pub jvm: Jvm,
    pub why: String,
}

/// How one run of the program went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// `exit`, `halt`, `killed`, `time-limit`, `interrupted`, `running`, `not-started` or
    /// `offline`; of controlled runs also `deadlock`, `livelock`, `stuck` or
    /// `limit`; of an exploration `cut`, where threads seemed to wait for ever and did not.
    pub ended: RunEnd,
    pub races: u64,
    pub seconds: f64,
    /// Who decided which thread runs, unless it was the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Scheduling steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Times that another thread went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<u64>,
    /// Of all its events: equal digests, equal runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9a-f]{16}$"))]
    pub digest: Option<String>,
    /// What the threads were doing when it was stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
    /// What was done to show hidden races.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Hidden>,
    /// Where a command started the JVM: which one it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<Jvm>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub classes_instrumented: u64,
    #[serde(default)]
    pub classes_skipped: Vec<Skipped>,
    /// Null when they were not counted.
    #[serde(default)]
    pub events: Option<u64>,
    pub threads: u64,
    /// Ways of synchronising that the program used and the tool has no model
    /// for: races reported near them may be wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_models: Vec<String>,
    /// Of runs under a budget: what was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// JVMs of the command that were not looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvms_skipped: Vec<SkippedJvm>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_s: Option<f64>,
    pub total_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    #[schemars(regex(pattern = r"^photofinish "))]
    pub tool: String,
    #[schemars(length(min = 1))]
    pub command: String,
    pub program: Program,
    #[serde(default)]
    pub runs: Vec<Run>,
    /// One entry for each finding: the race that leads it, with the others as its group.
    #[serde(
        default,
        serialize_with = "crate::group::fold",
        deserialize_with = "crate::group::unfold"
    )]
    #[schemars(with = "Vec<crate::group::Folded<'_>>")]
    pub races: Vec<Race>,
    /// Deadlocks and livelocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<Deadlock>,
    /// Exceptions that nobody caught, assertion errors among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    #[serde(default)]
    pub coverage: Coverage,
    /// What each engine of `predict` found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Engine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atomicity: Vec<AtomicityViolation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// Of `verify`, also as a stage of `hunt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// Of `detect` with a scheduler that can repeat its runs, and of the trials of `confirm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Schedules>,
    /// The fewest repairs that remove all races.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<RepairSet>,
    /// What the output of trials was compared with, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What the program did where no order was forced, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_runs: Vec<ReferenceRuns>,
    /// Of `replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayVerdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunt: Option<HuntSummary>,
    /// Races that were taken out, because somebody knows of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Suppressed>,
    /// The comparison with an earlier result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// A limit or a signal ended the work before an answer to all that was asked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub limit_reached: bool,
    /// Nothing was exercised that could race.
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_exercised: bool,
    /// Which parts of the work this is about, where it was divided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<Parts>,
    /// From how many results `merge` has put this one together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merged: u64,
    /// Where the tool was not in control, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(default)]
    pub timing: Timing,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What `hunt` did, stage by stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HuntSummary {
    pub stages: Vec<Stage>,
    #[serde(default)]
    pub time_limit_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    pub stage: String,
    pub seconds: f64,
    /// What came of it, in words.
    #[serde(default)]
    pub note: String,
}

/// A race in a line, where another report has the rest of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaceSummary {
    pub id: String,
    pub fingerprint: String,
    pub location: String,
    pub status: Status,
}

impl RaceSummary {
    /// A race of a finding, with what the finding is about.
    pub fn new(race: &Race, finding: &Finding<'_>) -> RaceSummary {
        RaceSummary {
            id: race.id.clone(),
            fingerprint: race.fingerprint.clone(),
            location: finding.name(),
            status: race.status,
        }
    }
}

/// Why a file is not a report.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    Malformed(String),
    /// Written by a tool with another layout.
    Schema(u64),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Malformed(why) => write!(f, "not a photofinish report: {why}"),
            ReadError::Schema(found) => write!(
                f,
                "the report has schema {found}, this version reads schema {SCHEMA}; \
                 use the photofinish that wrote it"
            ),
        }
    }
}

impl std::error::Error for ReadError {}

impl Report {
    pub fn from_json(bytes: &[u8]) -> Result<Report, ReadError> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|e| ReadError::Malformed(e.to_string()))?;
        // The schema first: a newer layout should not be called malformed.
        match value.get("schema").and_then(Value::as_u64) {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(schema) => return Err(ReadError::Schema(schema)),
            None => return Err(ReadError::Malformed("it has no \"schema\" number".into())),
        }
        serde_json::from_value(value).map_err(|e| ReadError::Malformed(e.to_string()))
    }

    /// Whether there is something to complain about in the program.
    pub fn has_findings(&self) -> bool {
        self.races.iter().any(Race::is_finding)
            || !self.deadlocks.is_empty()
            || !self.failures.is_empty()
    }

    /// Whether a run goes on whose findings up to now these are.
    pub fn is_running(&self) -> bool {
        self.runs.iter().any(|run| run.ended == RunEnd::Running)
    }

    /// What an exploration found that only reads of older writes lead to.
    pub fn weak_findings(&self) -> &[WeakFinding] {
        let weak = self.exploration.as_ref().and_then(|e| e.weak.as_ref());
        weak.map_or(&[], |weak| &weak.findings)
    }

    /// Whether a unit is not atomic, or a property does not hold.
    pub fn has_violations(&self) -> bool {
        let broken = |property: &Property| property.status != PropertyStatus::Holds;
        !self.atomicity.is_empty() || self.properties.iter().any(broken)
    }

    /// Indented JSON with a newline at the end.
    pub fn write_json(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}
