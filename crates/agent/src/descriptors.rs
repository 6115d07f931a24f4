//! Types as tables of methods write them, in [`crate::bridge`] and [`crate::natives`].

/// As descriptors have them: letters, and for references the whole text. `C` is a
/// long that is the address of a clock.
macro_rules! desc {
    (V) => {
        "V"
    };
    (Z) => {
        "Z"
    };
    (I) => {
        "I"
    };
    (J) => {
        "J"
    };
    (C) => {
        "J"
    };
    ($reference:literal) => {
        $reference
    };
}
