//! The end of a campaign's time: what nobody has begun is taken back.
//!
//! The coordinator takes units from the queue as a worker would, and acknowledges them without doing them. So a unit is
//! either held by a worker, which ends it, or taken back; a unit whose worker died comes back to the queue when its
//! lease runs out, and is taken back then. Nothing depends on the clocks of workers.

use crate::error::Error;
use crate::patience::patiently;
use crate::plan::Plan;
use crate::queue::Queue;
use crate::unit::{self, Unit};
use std::time::Duration;

/// How long to wait for another unit. Those that wait are given out at once.
const WAIT: Duration = Duration::from_millis(200);

/// Takes back all units that are waiting.
pub async fn withdraw<Q: Queue>(queue: &Q, plan: &mut Plan) -> Result<(), Error> {
    while let Some(taken) = patiently(|| queue.take(WAIT)).await? {
        if let Ok(unit) = unit::decode::<Unit>(&taken.bytes) {
            plan.withdraw(&unit);
        }
        patiently(|| queue.finish(&taken.lease)).await?;
    }
    Ok(())
}
