//! What must hold of any text as a specification: nothing panics, and what is
//! accepted can be watched.

use predict::property::{Monitor, Spec, Verdict};

/// Whether it is a specification.
pub fn any(text: &str) -> bool {
    let spec = match Spec::parse(text) {
        Ok(spec) => spec,
        Err(error) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.what.is_empty());
            return false;
        }
    };
    let all = match spec.events.len() {
        64 => u64::MAX,
        count => (1 << count) - 1,
    };
    for property in &spec.properties {
        let alphabet = property.alphabet();
        assert!(alphabet != 0 && alphabet & !all == 0);
        // Events with one name, with all, and with some.
        let names = (0..64).map(|n| 1u64 << n).filter(|n| n & alphabet != 0);
        let mut letters: Vec<u64> = names.take(6).collect();
        letters.extend([alphabet, alphabet & 0x5555_5555_5555_5555]);
        let monitor = Monitor::new(&property.rule, letters.iter().copied());
        let mut state = monitor.start();
        for n in 0..40 {
            let letter = letters[n * n % letters.len()];
            match monitor.step(state, letter) {
                Verdict::Go(next) => state = next,
                Verdict::Broken => break,
            }
        }
    }
    true
}
