//! Strategies on model programs, held against brute force over all schedules.

mod distribution;
mod fairness;
mod figures;
mod hidden;
mod purity;
mod races;
mod replay;
mod world;
