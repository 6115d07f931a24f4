//! What it saves to leave out accesses that cannot race, because no other
//! thread knows the object: `detect` with and without, in turn.

use crate::compare::{Tool, progress};
use crate::figures::{Ratio, median};
use crate::kernels::Kernel;
use crate::measure;
use crate::{check_interrupt, compare};
use anyhow::Result;

/// Those that make much of what they use: on arrays that are there from the
/// start and shared there is nothing to save.
const KERNELS: [&str; 5] = ["scratch", "trees", "alloc", "maps", "javac"];

#[derive(Debug)]
pub struct Saved {
    pub name: String,
    /// Processor seconds of `detect` as it is.
    pub usual: Option<f64>,
    /// How many times that, if everything is checked.
    pub all: Option<Ratio>,
}

pub fn measure(kernels: &[Kernel], tool: &Tool, runs: u32) -> Result<Vec<Saved>> {
    let mut rows = Vec::new();
    for kernel in kernels
        .iter()
        .filter(|k| KERNELS.contains(&k.name.as_str()))
    {
        let mut all = kernel.clone();
        all.options.push("--check-unshared".to_owned());
        let mut seconds = [Vec::new(), Vec::new()];
        let mut stopped = false;
        for run in 1..=runs {
            for (kernel, seconds) in [kernel, &all].into_iter().zip(&mut seconds) {
                progress(&format!("{}, unshared, run {run} of {runs}", kernel.name));
                let done = measure::run(compare::detect(kernel, tool), tool.limit)?;
                check_interrupt(&tool.interrupted)?;
                stopped |= done.stopped;
                seconds.push(done.cpu.as_secs_f64());
            }
            if stopped {
                break;
            }
        }
        progress("");
        let [usual, all] = seconds.map(median);
        rows.push(Saved {
            name: kernel.name.clone(),
            usual,
            all: usual.zip(all).map(|(usual, all)| Ratio {
                value: all / usual,
                at_least: stopped,
            }),
        });
    }
    Ok(rows)
}
