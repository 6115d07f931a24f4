//! What crosses machines, as plain data: a campaign, its units of work, and what came of
//! each. Every message is JSON, deflated if it is long; any bytes decode to a value or to an error.
//!
//! A unit is named after its arm and its place in that arm (`p0-random-17`): the name says
//! which seeds it has, so a coordinator that is restarted makes the same unit under the same
//! name, and the queue keeps one of them.

use crate::bundle::Manifest;
use crate::error::Error;
use engine::verify::portions::{Came, Portion};
use findings::result::Report;
use findings::text::counted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of these messages.
pub const SCHEMA: u32 = 1;

/// Longer messages are deflated.
const LONG: usize = 4 << 10;

/// A message that is longer, inflated or not, is refused.
pub const LONGEST: usize = 256 << 20;

/// A campaign as it was started. It does not change afterwards: what is known of its course
/// follows from the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    pub schema: u32,
    pub name: String,
    /// `photofinish 0.1.0`, of whoever started it.
    pub tool: String,
    /// Seconds since 1970.
    pub started: f64,
    pub programs: Vec<Program>,
    pub launch: Launch,
    pub budget: Budget,
    pub bundle: Manifest,
}

/// One of the programs that are looked at, each with a verdict of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its main class or test, for people.
    pub name: String,
    /// What follows `java` at a worker: [`crate::bundle::PLACE`] stands for the directory of the bundle.
    pub args: Vec<String>,
    /// What follows `java` where the campaign was started.
    pub original: Vec<String>,
}

/// How programs are started, whoever does it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub trusted: Vec<String>,
    pub untracked: Vec<String>,
    /// Of each run.
    pub time_limit_s: Option<f64>,
    pub stop_after: Option<String>,
    pub cut_after_ms: Option<u64>,
    pub cut_requests: Option<u64>,
    pub max_steps: Option<u64>,
    pub watchdog_s: u64,
    pub clock: Option<i64>,
}

/// How much work there is, and how it is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Schedulers, each an arm of each program.
    pub strategies: Vec<String>,
    /// Runs in a unit.
    pub batch: u32,
    /// Trials of a pair in a unit.
    pub trials: u32,
    pub seed: u64,
    /// Units of work in all.
    pub units: Option<u64>,
    /// No unit is begun later than this after the start.
    pub seconds: Option<f64>,
    /// Every arm gets the same; or what still finds something gets more.
    pub even: bool,
    /// The share that is divided evenly all the same, in percent.
    pub floor_percent: u32,
    /// A unit whose worker is silent for this long is given out again.
    pub lease_s: f64,
    /// Of `verify`: executions in a unit, and units at a time.
    #[serde(default)]
    pub portion: u32,
    #[serde(default)]
    pub portions: u32,
    /// Units that compute nothing and take this long, to test the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_micros: Option<u64>,
}

impl Campaign {
    /// Whether this version understands it, and it is the one of this name.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        if self.schema != SCHEMA || self.name != name {
            return Err(Error::Refused(format!(
                "campaign {name:?} was started by {}, which writes another format: use that version",
                self.tool
            )));
        }
        Ok(())
    }
}

impl Budget {
    pub fn lease(&self) -> Duration {
        Duration::from_secs_f64(self.lease_s.clamp(0.5, 3600.0))
    }
}

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    pub campaign: String,
    pub arm: String,
    pub index: u32,
    /// Which of the campaign's programs.
    pub program: u32,
    #[serde(flatten)]
    pub task: Task,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum Task {
    /// Runs with these seeds.
    Detect {
        scheduler: String,
        detector: String,
        runs: u32,
        seed: u64,
    },
    /// Trials with these seeds for the one race of a report.
    Confirm {
        report: Box<Report>,
        trials: u32,
        seed: u64,
    },
    /// Branches of the exploration of all schedules.
    Verify { portion: Box<Portion> },
    /// Nothing, for so long.
    Simulated { micros: u64, seed: u64 },
}

/// Which unit it is. Every version can read that much, also where it does not know the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub campaign: String,
    pub arm: String,
    pub index: u32,
    pub program: u32,
}

impl Head {
    pub fn id(&self) -> String {
        id(&self.arm, self.index)
    }

    /// Whether it is a unit of this campaign.
    pub fn check(&self, campaign: &Campaign) -> Result<(), Error> {
        let wrong = |why: String| Err(Error::Refused(why));
        if self.campaign != campaign.name {
            return wrong(format!(
                "unit {} is of campaign {:?}, not of {:?}",
                self.id(),
                self.campaign,
                campaign.name
            ));
        }
        if !is_name(&self.arm) {
            return wrong(format!("{:?} is no name of an arm", self.arm));
        }
        if self.program as usize >= campaign.programs.len() {
            return wrong(format!(
                "unit {} is about program {}, and the campaign has {}",
                self.id(),
                self.program,
                campaign.programs.len()
            ));
        }
        Ok(())
    }

    /// What is stored for a unit that nobody can do.
    pub fn given_up(&self, worker: &str, why: impl Into<String>) -> Outcome {
        Outcome {
            campaign: self.campaign.clone(),
            arm: self.arm.clone(),
            index: self.index,
            program: self.program,
            worker: worker.to_owned(),
            seconds: 0.0,
            executions: 0,
            orders: Vec::new(),
            end: End::GivenUp { why: why.into() },
        }
    }
}

impl Unit {
    pub fn id(&self) -> String {
        id(&self.arm, self.index)
    }

    pub fn head(&self) -> Head {
        Head {
            campaign: self.campaign.clone(),
            arm: self.arm.clone(),
            index: self.index,
            program: self.program,
        }
    }

    /// What is being done, in a few words.
    pub fn words(&self, campaign: &Campaign) -> String {
        let program = campaign.programs.get(self.program as usize);
        let name = program.map_or("?", |program| &program.name);
        match &self.task {
            Task::Detect {
                scheduler, runs, ..
            } => format!("{name}: {runs} runs, {scheduler}"),
            Task::Confirm { trials, .. } => format!("{name}: {trials} trials of a pair"),
            Task::Verify { portion } => {
                let branches = counted(portion.subtrees.len() as u64, "branch", "branches");
                format!("{name}: explores {branches} of all schedules")
            }
            Task::Simulated { .. } => format!("{name}: simulated"),
        }
    }
}

pub fn id(arm: &str, index: u32) -> String {
    format!("{arm}-{index}")
}

/// What came of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub campaign: String,
    pub arm: String,
    pub index: u32,
    pub program: u32,
    /// Who did it.
    pub worker: String,
    /// How long it took.
    pub seconds: f64,
    /// Runs of the program.
    pub executions: u64,
    /// The partial orders that its executions had, by their digests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<u64>,
    #[serde(flatten)]
    pub end: End,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum End {
    Done {
        report: Box<Report>,
        /// Schedules that replay what the report lists.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        schedules: Vec<KeptSchedule>,
        /// What came of branches of an exploration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explored: Option<Box<Came>>,
    },
    /// Nobody could do it.
    GivenUp { why: String },
}

/// A run that can be replayed, as a worker's store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSchedule {
    pub schedule: driver::store::Schedule,
    /// Base64.
    pub log: String,
}

impl Outcome {
    pub fn id(&self) -> String {
        id(&self.arm, self.index)
    }

    /// Of a unit that nobody can do.
    pub fn given_up(unit: &Unit, worker: &str, why: impl Into<String>) -> Outcome {
        unit.head().given_up(worker, why)
    }
}

/// Whether the campaign goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    #[default]
    Running,
    /// Somebody stopped it.
    Stopped,
    /// All its work is done.
    Done,
}

/// A worker, as it said last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerStatus {
    pub name: String,
    /// Units side by side.
    pub jobs: u32,
    pub units: u64,
    pub executions: u64,
    /// What it is doing now, in words.
    pub doing: Vec<String>,
    /// Seconds since 1970.
    pub at: f64,
}

/// Names of campaigns and arms become parts of subjects, streams and directories.
pub fn is_name(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('-')
}

/// A message.
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    // Types of ours, with names as keys: that cannot fail.
    let json = serde_json::to_vec(value).unwrap_or_default();
    match json.len() > LONG {
        true => miniz_oxide::deflate::compress_to_vec_zlib(&json, 1),
        false => json,
    }
}

/// What a message says.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let refused = |why: &dyn std::fmt::Display| Error::Refused(format!("cannot be read: {why}"));
    if bytes.len() > LONGEST {
        return Err(refused(&"it is longer than any message"));
    }
    if bytes.first() == Some(&b'{') {
        return serde_json::from_slice(bytes).map_err(|e| refused(&e));
    }
    let json = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, LONGEST)
        .map_err(|e| refused(&e))?;
    serde_json::from_slice(&json).map_err(|e| refused(&e))
}

/// Seconds since 1970.
pub fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    fn unit(seed: u64) -> Unit {
        Unit {
            campaign: "c".into(),
            arm: "p0-random".into(),
            index: 3,
            program: 0,
            task: Task::Simulated { micros: 5, seed },
        }
    }

    #[test]
    fn names_are_safe_in_subjects_and_paths() {
        for good in ["a", "night-2026_11", "p0-pct"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "a.b",
            "../x",
            "A",
            "a b",
            "*",
            ">",
            "-x",
            &"x".repeat(65),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    fn campaign() -> Campaign {
        let text = serde_json::json!({
            "schema": SCHEMA, "name": "c", "tool": "photofinish 0", "started": 1.5,
            "programs": [{ "name": "Main", "args": ["-cp", "@bundle@/0"], "original": [] }],
            "launch": { "include": ["a.**"], "time_limit_s": 3.0, "watchdog_s": 30 },
            "budget": { "strategies": ["pct"], "batch": 2, "trials": 3, "seed": 4, "units": 5,
                        "seconds": null, "even": false, "floor_percent": 20, "lease_s": 1.0 },
            "bundle": {
                "pieces": [{ "digest": bundle::digest(b"class"), "bytes": 5 }],
                "files": [{ "path": "0/A.class", "piece": 0, "offset": 0, "bytes": 5 }],
            },
        });
        serde_json::from_value(text).unwrap()
    }

    /// Descriptions and units are changed at random: nothing panics, and of a bundle that is taken
    /// every file lies in its pieces and below the directory.
    #[test]
    fn damaged_messages_are_refused_or_harmless() {
        let mut random = fastrand::Rng::with_seed(15);
        let campaign = campaign();
        campaign.bundle.check().unwrap();
        let whole = [
            encode(&campaign),
            encode(&unit(7)),
            encode(&vec![campaign; 40]),
        ];
        let (mut read, mut taken) = (0, 0);
        for round in 0..6_000 {
            let mut bytes = whole[round % whole.len()].clone();
            for _ in 0..random.usize(1..3) {
                let at = random.usize(..bytes.len());
                match random.u8(..4) {
                    0 => bytes[at] = random.u8(..),
                    1 => bytes[at] = *random.choice(b"0123456789/.-e\"").unwrap(),
                    2 => _ = bytes.remove(at),
                    _ => bytes.insert(at, *random.choice(b"0123456789/.-e\"").unwrap()),
                }
            }
            let _ = decode::<Vec<Campaign>>(&bytes);
            let _ = decode::<Outcome>(&bytes);
            let Ok(campaign) = decode::<Campaign>(&bytes) else {
                let _ = decode::<Unit>(&bytes).map(|unit| unit.id());
                continue;
            };
            read += 1;
            let _ = campaign.check("c");
            let _ = decode::<Head>(&encode(&unit(7))).map(|head| head.check(&campaign));
            let bundle = &campaign.bundle;
            if bundle.check().is_ok() {
                taken += 1;
                for file in &bundle.files {
                    // An empty file needs no piece.
                    let piece = bundle.pieces.get(file.piece as usize);
                    let long = piece.map_or(0, |piece| piece.bytes);
                    assert!(file.offset + file.bytes <= long, "{bundle:?}");
                    let place = Path::new("/place").join(&file.path);
                    let mut parts = place.components();
                    assert!(parts.all(|part| part != Component::ParentDir), "{bundle:?}");
                    assert!(place.starts_with("/place"), "{bundle:?}");
                }
            }
        }
        assert!(read > taken && taken > 100, "{read} {taken}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in any::<Vec<u8>>()) {
            let _ = decode::<Unit>(&bytes);
            let _ = decode::<Outcome>(&bytes);
        }

        #[test]
        fn messages_read_back(seed in any::<u64>(), long in 0usize..20_000) {
            prop_assert_eq!(decode::<Unit>(&encode(&unit(seed))).unwrap(), unit(seed));
            let outcome = Outcome::given_up(&unit(seed), "w", "x".repeat(long));
            prop_assert_eq!(decode::<Outcome>(&encode(&outcome)).unwrap(), outcome);
        }
    }
}
