//! Where probes go: which instructions get which call into the bridge.
