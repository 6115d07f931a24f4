//! From arguments to the configurations of the engine.

use super::values::StopAfter;
use super::{Advise, Compare, Confirm, Control, Detect, Engine, Hunt, Launch, Predict};
use super::{Record, Verify};
use crate::exit::Failure;
use crate::show;
use driver::process::Output;
use engine::advise::AdviseConfig;
use engine::compare::CompareConfig;
use engine::confirm::{ConfirmConfig, Pairs};
use engine::detect::DetectConfig;
use engine::exec::ExecConfig;
use engine::hunt::HuntConfig;
use engine::predict::PredictConfig;
use engine::record::RecordConfig;
use engine::verify::VerifyConfig;
use engine::{Budget, ControlConfig, Cut, LaunchConfig};
use findings::result::Report;
use findings::suppress::Suppressions;
use std::path::PathBuf;
use std::time::{Duration, Instant};

impl Launch {
    pub fn config(&self) -> LaunchConfig {
        LaunchConfig {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            trusted: self.trusted.clone(),
            untracked: self.untracked.clone(),
            check_unshared: self.check_unshared,
            budget: None,
            time_limit: self.time_limit,
            cut: self.cut(),
            java: self.java.clone(),
            keep: self.keep.clone(),
            program: self.program.clone(),
        }
    }

    fn cut(&self) -> Cut {
        let mut cut = Cut::default();
        let mut time = self.cut_after;
        match &self.stop_after {
            Some(StopAfter::Time(other)) => time = Some(time.map_or(*other, |t| t.min(*other))),
            Some(StopAfter::Requests(many)) => cut.requests = Some(*many),
            Some(StopAfter::Printed(text)) => cut.text = Some(text.clone()),
            None => {}
        }
        cut.millis = time.map(|time| time.as_millis() as u64);
        cut
    }
}

impl Control {
    pub fn config(&self) -> ControlConfig {
        ControlConfig {
            seed: self.seed,
            results: self.results.clone(),
            max_steps: self.max_steps,
            watchdog: self.watchdog,
            clock: self.clock,
        }
    }
}

impl Hunt {
    /// `input` is what `--input` names, or a copy of it.
    pub fn config(&self, input: Option<PathBuf>, suppress: Suppressions) -> HuntConfig {
        HuntConfig {
            trials: self.trials,
            runs: self.runs,
            memory: self.memory.of_hunt(),
            skip: self.skip.clone(),
            stop_at_first: self.stop_at.is_some(),
            jobs: self.jobs,
            shard: self.sharding.shard,
            input,
            first_output: match self.show.verbose {
                true => show::program_output(&self.show),
                false => Output::Capture,
            },
            sources: self.show.sources.clone(),
            suppress,
            control: self.control.config(),
            launch: self.launch.config(),
        }
    }
}

impl Detect {
    pub fn config(&self, output: Output, suppress: Suppressions) -> DetectConfig {
        DetectConfig {
            detector: self.detector.0,
            scheduler: self.scheduler,
            runs: self.runs,
            until_saturated: self.until.is_some(),
            stop_at_first: self.stop_at.is_some(),
            jobs: self.jobs as usize,
            isolate: self.isolate,
            depth: self.depth,
            relation: self.relation.clone(),
            shard: self.sharding.shard,
            output,
            suppress,
            control: self.control.config(),
            launch: self.launch_config(),
        }
    }

    fn launch_config(&self) -> LaunchConfig {
        LaunchConfig {
            budget: self.budget.map(|budget| Budget {
                turns: self.budget_turns,
                ..budget
            }),
            ..self.launch.config()
        }
    }
}

impl Detect {
    /// With `--exec`.
    pub fn exec_config(
        &self,
        output: Output,
        suppress: Suppressions,
    ) -> Result<ExecConfig, Failure> {
        let detector = self.detector.0;
        let detector = detector.ok_or_else(|| Failure::usage("--exec needs a --detector"))?;
        if !self.sharding.shard.is_whole() {
            return Err(Failure::usage(
                "--exec starts one command: divide what it does by the command's own means",
            ));
        }
        if !self.scheduler.is_native() {
            return Err(Failure::usage(
                "with --exec the operating system decides which thread runs; leave out --scheduler",
            ));
        }
        Ok(ExecConfig {
            detector,
            jvms: self.jvms.clone(),
            runs: self.runs,
            output,
            suppress,
            launch: self.launch_config(),
        })
    }
}

impl Record {
    pub fn config(&self, output: Output) -> RecordConfig {
        RecordConfig {
            trace: self.output.clone(),
            full: self.full,
            output,
            launch: self.launch.config(),
        }
    }
}

impl Predict {
    pub fn config(&self, output: Output, suppress: Suppressions) -> PredictConfig {
        PredictConfig {
            methods: self.engine.iter().map(|engine| engine.method()).collect(),
            atomicity: self.atomicity,
            stale: false,
            units: self.units.clone(),
            property: self.property.clone(),
            cuts: self.cuts,
            purity: self.purity.clone(),
            memory_limit: self.memory_limit,
            operations: self.operations.clone(),
            deadline: None,
            shard: self.sharding.shard,
            output,
            suppress,
            launch: self.launch.config(),
        }
    }
}

impl Confirm {
    pub fn config(&self, pairs: Pairs, suppress: Suppressions) -> ConfirmConfig {
        ConfirmConfig {
            pairs,
            races: self.race.clone(),
            trials: self.trials,
            all_trials: self.all_trials,
            memory: self.memory.of_confirm(),
            jobs: self.jobs,
            isolate: self.isolate,
            shard: self.sharding.shard,
            input: self.input.clone(),
            operations: None,
            suppress,
            control: self.control.config(),
            launch: self.launch.config(),
            ..ConfirmConfig::default()
        }
    }
}

impl Verify {
    /// `points` are those of the result that `--points` names.
    pub fn config(&self, points: Vec<String>, suppress: Suppressions) -> VerifyConfig {
        VerifyConfig {
            order: self.order.order(),
            preemptions: self.bound,
            memory: self.memory.of_verify(),
            threshold: self.threshold,
            stop_at_first: self.stop_at.is_some(),
            max_executions: self.max_executions,
            max_time: self.max_seconds.map(Duration::from_secs),
            resume: self.resume,
            shard: self.sharding.shard,
            points,
            jobs: self.jobs,
            isolate: self.isolate,
            input: self.input.clone(),
            suppress,
            control: self.control.config(),
            launch: self.launch.config(),
        }
    }
}

impl Advise {
    pub fn config(&self, from: Option<Report>) -> AdviseConfig {
        AdviseConfig {
            from: from.map(Box::new),
            runs: self.runs,
            tries: self.tries,
            max_executions: self.max_executions,
            cost_runs: self.cost_runs,
            jobs: self.jobs,
            input: self.input.clone(),
            sources: self.show.sources.clone(),
            deadline: { self.launch.time_limit }.and_then(|l| Instant::now().checked_add(l)),
            control: self.control.config(),
            launch: self.launch.config(),
        }
    }
}

impl Compare {
    pub fn config(&self) -> CompareConfig {
        let depths = self.depths.iter().flat_map(|depths| &depths.0);
        CompareConfig {
            schedulers: self.schedulers.clone(),
            runs: self.runs,
            depths: depths.copied().collect(),
            control: self.control.config(),
            launch: self.launch.config(),
        }
    }
}

impl Engine {
    pub fn method(self) -> predict::Method {
        match self {
            Engine::Hb => predict::Method::Hb,
            Engine::Shb => predict::Method::Shb,
            Engine::Wcp => predict::Method::Wcp,
            Engine::Syncp => predict::Method::SyncP,
            Engine::Osr => predict::Method::Osr,
            Engine::Sliced => predict::Method::Sliced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    /// The library's defaults are those of the command line.
    #[test]
    fn defaults_are_the_engines() {
        let parse = |command: &str| Cli::parse_from(["photofinish", command, "--", "Main"]).command;
        let text = |config: &dyn std::fmt::Debug| format!("{config:?}");
        let launch = LaunchConfig::new(["Main"]);
        let Command::Hunt(hunt) = parse("hunt") else {
            panic!()
        };
        let theirs = engine::hunt::HuntConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(text(&hunt.config(None, Default::default())), text(&theirs));
        let Command::Confirm(confirm) = parse("confirm") else {
            panic!()
        };
        let theirs = engine::confirm::ConfirmConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(
            text(&confirm.config(Default::default(), Default::default())),
            text(&theirs)
        );
        let Command::Verify(verify) = parse("verify") else {
            panic!()
        };
        let theirs = engine::verify::VerifyConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(
            text(&verify.config(vec![], Default::default())),
            text(&theirs)
        );
        let Command::Advise(advise) = parse("advise") else {
            panic!()
        };
        let theirs = engine::advise::AdviseConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(text(&advise.config(None)), text(&theirs));
        let Command::Compare(compare) = parse("compare") else {
            panic!()
        };
        let theirs = engine::compare::CompareConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(text(&compare.config()), text(&theirs));
        let Command::Detect(detect) = parse("detect") else {
            panic!()
        };
        let output = driver::process::Output::Capture;
        let theirs = engine::detect::DetectConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(
            text(&detect.config(output, Default::default())),
            text(&theirs)
        );
        let Command::Predict(predict) = parse("predict") else {
            panic!()
        };
        let theirs = engine::predict::PredictConfig {
            launch: launch.clone(),
            ..Default::default()
        };
        assert_eq!(
            text(&predict.config(output, Default::default())),
            text(&theirs)
        );
        let Command::Record(record) = parse("record") else {
            panic!()
        };
        let theirs = engine::record::RecordConfig {
            launch,
            ..Default::default()
        };
        assert_eq!(text(&record.config(output)), text(&theirs));
    }
}
