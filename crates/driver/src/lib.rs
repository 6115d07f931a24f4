//! Starts JVMs with the agent and collects what they found.
