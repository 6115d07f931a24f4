//! Strategies on model programs, held against brute force over all schedules.

mod distribution;
mod fairness;
mod figures;
mod may_trigger;
mod purity;
mod races;
mod reduce;
mod replay;
mod world;
