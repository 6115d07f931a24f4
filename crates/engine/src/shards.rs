//! What commands say about being a shard: `findings::shard` has the split.

use crate::config::LaunchConfig;
use findings::fingerprint::digest;
use findings::result::Report;
use findings::shard::{Parts, Shard};
use std::fmt::Debug;

/// Executions of an exploration that all shards make before they divide the rest: a small
/// program is explored by each, and statements that race are known to all early.
pub const COMMON: u64 = 48;

/// Says in a report which part of the work it is, and whether there was any. `options` are
/// those that decide what the whole work is.
pub(crate) fn tell(
    report: &mut Report,
    shard: Shard,
    launch: &LaunchConfig,
    options: &dyn Debug,
    has_work: bool,
) {
    if shard.is_whole() {
        return;
    }
    let program = format!(
        "{:?}",
        (
            &launch.program,
            (&launch.include, &launch.exclude),
            (&launch.trusted, &launch.untracked),
        )
    );
    let options = format!("{options:?}");
    let work = digest(&[&crate::tool(), &report.command, &program, &options]);
    report.shards = Parts::of_shard(shard, work);
    let what = match has_work {
        true => "photofinish merge puts it together with the others",
        false => "it has nothing to do, because the work has fewer parts",
    };
    let text = format!("{}{shard}: {what}", findings::shard::ONE);
    if !report.warnings.contains(&text) {
        report.warnings.push(text);
    }
}

/// The share of an exploration.
pub(crate) fn share(shard: Shard) -> Option<explore::Share> {
    (!shard.is_whole()).then(|| explore::Share {
        index: shard.index() - 1,
        of: shard.of(),
        common: COMMON,
    })
}
