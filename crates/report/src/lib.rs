//! Results rendered for people and machines.
