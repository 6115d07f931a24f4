//! Any bytes as a schedule log.

use schedule::log::{Entry, Log, Told, Writer, read};
use schedule::table::Table;

/// Reads, shows, and writes again what was read.
pub fn any(bytes: &[u8]) {
    let Ok(log) = read(bytes) else {
        return;
    };
    let text = Table::new(&log, 8).to_string();
    assert_eq!(text.lines().count(), 1 + Table::new(&log, 8).rows.len());
    let steps = |e: &&Entry| matches!(e, Entry::Step { .. });
    let end = log.end.clone();
    if log.complete {
        let steps = log.entries.iter().filter(steps).count() as u64;
        assert_eq!(end.map(|e| e.steps), Some(steps));
    }
    let again = read(&write(&log)).expect("just written");
    assert_eq!(again.header, log.header);
    assert_eq!(again.threads, log.threads);
    assert_eq!(again.sites, log.sites);
    assert_eq!(again.entries, log.entries);
    assert_eq!(again.told, log.told);
    assert!(again.complete);
}

fn tell(writer: &mut Writer<Vec<u8>>, told: &Told) {
    let written = writer.told(told.thread, &told.op, told.call, &told.value);
    written.expect("in memory");
}

/// A log with the tables first.
pub fn write(log: &Log) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &log.header).expect("in memory");
    for (number, row) in &log.threads {
        let written = writer.thread(*number, &row.name, row.parent);
        written.expect("in memory");
    }
    for (number, site) in &log.sites {
        writer.site(*number, site).expect("in memory");
    }
    let mut told = log.told.iter().peekable();
    let mut decisions = 0;
    for (at, entry) in log.entries.iter().enumerate() {
        while let Some(told) = told.next_if(|told| told.at <= at) {
            tell(&mut writer, told);
        }
        if matches!(entry, Entry::Step { .. } | Entry::Tick) {
            if let Some(set) = log.ready.get(&decisions) {
                writer.ready(set).expect("in memory");
            }
            decisions += 1;
        }
        let written = match entry {
            Entry::Step { thread, op } => {
                if let Some(call) = log.calls.get(&writer.steps()) {
                    writer.call(*call).expect("in memory");
                }
                writer.step(*thread, op)
            }
            Entry::Tick => writer.tick(),
            Entry::Saw { which, times } => writer.saw(*which, *times),
            Entry::Hit(hit) => writer.hit(hit),
            Entry::Note(text) => writer.note(text),
        };
        written.expect("in memory");
    }
    told.for_each(|told| tell(&mut writer, told));
    let outcome = log.end.as_ref().map_or("", |end| &end.outcome);
    writer.end(outcome).expect("in memory").0
}
