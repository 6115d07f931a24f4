//! Logs that were cut off, changed, or are none.

use crate::round_trip::logs;
use proptest::prelude::*;
use schedule::log::{Error, Header, Writer, read};
use test_support::exercise::schedule_log as exercise;

/// Signature and version.
const PREAMBLE: usize = 12;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    /// A killed run: whatever was written whole is there, and no more.
    #[test]
    fn of_a_log_that_is_cut_off_a_prefix_is_read(log in logs(), cut: prop::sample::Index) {
        let bytes = exercise::write(&log);
        let cut = cut.index(bytes.len());
        let part = &bytes[..cut];
        if cut < PREAMBLE {
            prop_assert_eq!(read(part), Err(Error::NotALog));
            return Ok(());
        }
        let read = read(part).unwrap();
        prop_assert!(!read.complete);
        prop_assert_eq!(read.end, None);
        prop_assert!(log.entries.starts_with(&read.entries));
        for (number, row) in &read.threads {
            prop_assert_eq!(Some(row), log.threads.get(number));
        }
        for (number, site) in &read.sites {
            prop_assert_eq!(Some(site), log.sites.get(number));
        }
        exercise::any(part);
    }

    #[test]
    fn a_longer_part_reads_as_no_less(log in logs(), cuts: [prop::sample::Index; 2]) {
        let bytes = exercise::write(&log);
        let mut cuts = cuts.map(|c| c.index(bytes.len()).max(PREAMBLE));
        cuts.sort();
        let [less, more] = cuts.map(|cut| read(&bytes[..cut]).unwrap());
        prop_assert!(more.entries.starts_with(&less.entries));
        prop_assert!(less.sites.len() <= more.sites.len());
    }

    /// One byte is another: read without harm, and never taken for whole if a
    /// step is not what it was.
    #[test]
    fn a_changed_byte_is_noticed_if_it_matters(log in logs(), at: prop::sample::Index, to: u8) {
        let mut bytes = exercise::write(&log);
        let at = at.index(bytes.len());
        bytes[at] = to;
        exercise::any(&bytes);
        if let Ok(read) = read(&bytes) && read.complete {
            let steps = |entries: &[schedule::log::Entry]| -> Vec<_> {
                let decided = |e: &&schedule::log::Entry| {
                    use schedule::log::Entry::{Step, Tick};
                    matches!(e, Step { .. } | Tick)
                };
                entries.iter().filter(decided).cloned().collect()
            };
            prop_assert_eq!(steps(&read.entries), steps(&log.entries));
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        exercise::any(&bytes);
        let start = exercise::write(&Default::default());
        bytes.splice(..0, start[..PREAMBLE].iter().copied());
        exercise::any(&bytes);
    }
}

#[test]
fn what_follows_the_end_makes_it_no_end() {
    let writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    let (mut bytes, _) = writer.end("exit").unwrap();
    assert!(read(&bytes).unwrap().complete);
    bytes.push(0);
    let log = read(&bytes).unwrap();
    assert!(!log.complete);
    assert_eq!(log.entries, []);
}

#[test]
fn other_versions() {
    let writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    let (mut bytes, _) = writer.end("exit").unwrap();
    // A record of a kind that is not known is passed over.
    let mut later = bytes.clone();
    later[10] = 9;
    later.splice(PREAMBLE..PREAMBLE, [100, 3, 1, 2, 3]);
    assert!(read(&later).unwrap().complete);
    bytes[8] = 2;
    assert_eq!(read(&bytes), Err(Error::Version(2)));
    assert_eq!(read(b""), Err(Error::NotALog));
    assert_eq!(read(b"\x89PFT\r\n\x1a\n\x01\0\0\0"), Err(Error::NotALog));
}
