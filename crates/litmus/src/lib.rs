//! Tiny concurrent programs and brute force over their interleavings: the oracle.
