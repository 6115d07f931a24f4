//! Which engines are whose, where several machines predict from one recording. The checks beyond
//! races come after the last engine.

use super::PredictConfig;
use crate::shards;
use ::predict::{Method, Prediction};
use findings::result::Report;
use trace::SiteId;

impl PredictConfig {
    /// The engines of this shard. Without dependences `sliced` is OSR once more.
    pub(super) fn engines(&self, knows_dependences: bool) -> Vec<Method> {
        let again = !knows_dependences && self.methods.contains(&Method::Osr);
        let owned = { self.methods.iter() }
            .enumerate()
            .filter(|(at, _)| self.shard.owns(*at as u64));
        owned
            .map(|(_, method)| *method)
            .filter(|method| *method != Method::Sliced || !again)
            .collect()
    }

    /// Whether the checks beyond races are of this shard.
    pub(super) fn checks(&self) -> bool {
        self.shard.owns(self.methods.len() as u64)
    }
}

/// Statements and location.
pub type Pair = (SiteId, SiteId, u32);

pub fn pair(p: &Prediction) -> Pair {
    let (a, b) = (p.first.site, p.second.site);
    (a.min(b), a.max(b), p.loc.slot)
}

/// Statements have the same numbers in the same trace.
pub fn digest((a, b, slot): Pair) -> u64 {
    let text = findings::fingerprint::digest(&[&format!("{} {} {slot}", a.0, b.0)]);
    u64::from_str_radix(&text[..16], 16).unwrap_or_default()
}

/// Says which part this is.
pub fn tell(config: &PredictConfig, report: &mut Report) {
    let options = (
        (&report.program.args, &config.methods, config.cuts),
        (
            config.atomicity,
            &config.units,
            &config.property,
            &config.purity,
        ),
    );
    let options = format!("{options:?}");
    let has_work = !config.engines(true).is_empty() || config.checks();
    shards::tell(report, config.shard, &config.launch, &options, has_work);
}
