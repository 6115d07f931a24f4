//! Every class of the installed JDK: read, analysed, rewritten, verified.

mod flow;
mod frames;
mod identity;
mod image;
mod links;
