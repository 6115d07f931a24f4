//! Race detectors, one a file, each a fold over events.
