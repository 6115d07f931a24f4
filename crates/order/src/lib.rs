//! Epochs, vector clocks, locksets.
