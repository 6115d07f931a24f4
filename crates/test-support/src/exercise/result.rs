//! What must hold of any bytes as a saved result: nothing panics, what is accepted can be
//! written and read again, and every renderer and filter takes it.

use findings::baseline::Baseline;
use findings::result::Report;
use findings::sources::NoSources;
use findings::suppress::Suppressions;
use report::terminal::Options;
use report::timeline::Timelines;

const EMPTY: &str = r#"{"schema":1,"tool":"t","command":"detect","program":{"args":[]}}"#;

/// Whether it is a result.
pub fn any(bytes: &[u8]) -> bool {
    let Ok(mut found) = Report::from_json(bytes) else {
        return false;
    };
    let mut written = Vec::new();
    found.write_json(&mut written).unwrap();
    assert_eq!(Report::from_json(&written).as_ref(), Ok(&found));
    let timelines = Timelines::new();
    for verbose in [false, true] {
        let options = Options {
            color: verbose,
            verbose,
            timelines: Some(&timelines),
        };
        let mut text = Vec::new();
        report::terminal::render(&found, &NoSources, options, &mut text).unwrap();
        let shown = String::from_utf8(text).unwrap();
        // Colours are ours; nothing else reaches the terminal.
        let raw = |c: char| c.is_control() && c != '\n' && (!verbose || c != '\x1b');
        assert!(!shown.contains(raw), "{shown:?}");
    }
    report::violations::text(&found);
    report::html::write(&found, &NoSources, &timelines, std::io::sink()).unwrap();
    report::junit::write(&found, std::io::sink()).unwrap();
    let context = report::sarif::Context {
        sources: &NoSources,
        timelines: &timelines,
        root: None,
    };
    report::sarif::write(&found, context, std::io::sink()).unwrap();
    Baseline::compare(&found, &found, "itself");
    let all = Suppressions::parse("race * because all of it is known").unwrap();
    all.apply(&mut found);
    assert!(found.races.is_empty());
    found.rank();
    true
}

/// Any text as a file of suppressions.
pub fn suppressions(text: &str) -> bool {
    match Suppressions::parse(text) {
        Ok(rules) => {
            rules.apply(&mut Report::from_json(EMPTY.as_bytes()).unwrap());
            true
        }
        Err(why) => {
            assert!(!why.is_empty());
            false
        }
    }
}
