//! The library inside the JVM: hooks, probes, natives. The only crate with unsafe code.
