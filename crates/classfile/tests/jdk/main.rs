//! Every class of the installed JDK: read, analysed, rewritten, verified.

#[path = "../exercise/mod.rs"]
mod exercise;
mod flow;
mod frames;
mod identity;
mod image;
mod links;
#[path = "../support/mod.rs"]
mod support;
