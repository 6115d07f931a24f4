//! Which pairs are whose, where several machines try them.

use super::{ConfirmConfig, Pairs};
use crate::shards;
use findings::result::{Race, Report};
use std::collections::BTreeSet;

impl ConfirmConfig {
    /// Whether a race is of this shard. A report has the same races for everybody; what a run of
    /// its own finds, others may not.
    pub(crate) fn owns(&self, race: &Race) -> bool {
        if let Pairs::Report(report) = &self.pairs {
            let place = report.races.iter().position(|known| known.id == race.id);
            return place.is_some_and(|place| self.shard.owns(place as u64));
        }
        let lines = race.accesses.each_ref().map(|access| access.at.line);
        let [a, b] = [lines[0].min(lines[1]), lines[0].max(lines[1])];
        let name = format!("{} {a:?} {b:?}", race.fingerprint);
        self.shard.owns_name(&name)
    }
}

/// Leaves the races of others to them, and says which part this is. `new` are races that trials
/// have shown and nobody knew of.
pub fn tell(config: &ConfirmConfig, report: &mut Report, new: &BTreeSet<String>) {
    if config.shard.is_whole() {
        return;
    }
    let is_mine = |race: &Race| config.owns(race) || new.contains(&race.id);
    report.races.retain(is_mine);
    let pairs: Vec<String> = match &config.pairs {
        Pairs::Looked => Vec::new(),
        Pairs::Report(from) => from.races.iter().map(|r| r.fingerprint.clone()).collect(),
        Pairs::Named(pairs) => pairs.iter().map(|pair| format!("{pair:?}")).collect(),
    };
    let has_work = match &config.pairs {
        Pairs::Looked => true,
        Pairs::Report(_) | Pairs::Named(_) => config.shard.share(pairs.len() as u64) > 0,
    };
    let control = &config.control;
    let options = (
        (pairs, &config.races, config.trials, config.all_trials),
        (control.seed, control.max_steps, control.clock),
    );
    shards::tell(report, config.shard, &config.launch(), &options, has_work);
}
