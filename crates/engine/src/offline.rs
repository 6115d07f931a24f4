//! `detect --trace`: a detector over a recorded trace, or STD text. The detectors are those
//! that run inside the JVM; here their findings get their names from the
//! trace's tables.

use crate::error::Error;
use crate::owners::Owners;
use crate::source::Source;
use crate::traces;
use crate::verdict::{Answer, Facts};
use ::detect::held::HeldLocks;
use ::detect::{Finding, Kind, Late};
use encoding::names::dotted;
use findings::finding::{self, AccessOp, ArraySource, Findings, Frame, Location, Race, Summary};
use findings::merge::Merge;
use findings::result::{Program, Run};
use findings::suppress::Suppressions;
use protocol::RunEnd;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;
use trace::tables::{Site, SiteKind};
use trace::{Event, Gap, Loc, ObjId, SiteId, Tables, ThreadId, Trace};

const ACC_STATIC: u16 = 0x0008;
/// Events handed to a detector at once.
const BATCH: usize = 4096;

/// Reports what raced in the run that was recorded.
pub fn detect(path: &Path, detector: Kind, known: &Suppressions) -> Result<Answer, Error> {
    let start = Instant::now();
    let mut source = Source::open(path)?;
    let (found, program) = fold(&mut source, detector)?;
    let threads = found.summary.as_ref().map_or(0, |s| s.threads);
    let is_whole = found.warnings.is_empty();

    let seconds = start.elapsed().as_secs_f64();
    let mut merge = Merge::new();
    merge.add(
        found,
        Run {
            exit: program.exit,
            ended: RunEnd::Offline,
            seconds,
            ..Run::default()
        },
    );
    let mut report = merge.finish(crate::tool(), "detect", program, seconds);
    let facts = Facts {
        not_exercised: is_whole && threads < 2 && report.races.is_empty(),
        limit_reached: !is_whole,
        ..Facts::default()
    };
    if facts.not_exercised {
        report
            .warnings
            .push("only one thread did anything: nothing was exercised".into());
    }
    known.apply(&mut report);
    Ok(Answer::new(report, facts))
}

/// Runs the detector over everything up to the first gap.
fn fold(source: &mut Source, kind: Kind) -> Result<(Findings, Program), Error> {
    let mut detector = kind.detector();
    let mut batch = Vec::with_capacity(BATCH);
    let mut late = Late::default();
    let mut step = |event: &Event| {
        batch.push(*event);
        if batch.len() == BATCH {
            detector.events(&batch);
            batch.clear();
        }
    };
    let known = source.each(|event| late.take(event, &mut step))?;
    late.rest(&mut step);
    detector.events(&batch);

    // Most traces have no race, and then nobody asks for locks: they are a matter of a second pass.
    let wanted: BTreeSet<u64> = detector.findings().iter().map(|f| f.event).collect();
    let mut locks = LocksAt::new(wanted);
    if locks.is_wanted() {
        let mut late = Late::default();
        source.each(|event| late.take(event, |e| locks.event(e)))?;
        late.rest(|e| locks.event(e));
    }
    let mut found = known.covered;
    let names = Names::new(&known.tables);
    for finding in detector.findings() {
        let at = { &locks.found }.binary_search_by_key(&finding.event, |(event, _)| *event);
        let held = at.map_or(&[][..], |at| &locks.found[at].1);
        found.races.push(names.race(finding, kind.name(), held));
    }
    Ok((found, known.program))
}

/// The locks held at some events.
pub(crate) struct LocksAt {
    wanted: BTreeSet<u64>,
    at: u64,
    held: HeldLocks,
    /// Events and their locks, ascending.
    pub found: Vec<(u64, Vec<HeldLock>)>,
}

impl LocksAt {
    pub fn new(wanted: BTreeSet<u64>) -> LocksAt {
        LocksAt {
            wanted,
            at: 0,
            held: HeldLocks::default(),
            found: Vec::new(),
        }
    }

    /// Whether there are events still to come that somebody asks for.
    pub fn is_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    pub fn event(&mut self, e: &Event) {
        let Some(next) = self.wanted.first() else {
            return;
        };
        self.held.event(e);
        if *next == self.at {
            let now = self.held.sets.get(self.held.locks_of(e.thread)).iter();
            let now = now.map(|h| HeldLock {
                lock: ObjId(h.lock),
                shared: h.shared,
            });
            self.found.push((self.at, now.collect()));
            self.wanted.pop_first();
        }
        self.at += 1;
    }
}

/// What a trace covers, and what it lacks; no races.
pub(crate) fn covered<R>(trace: &Trace<R>, gap: Option<Gap>, events: u64) -> Findings {
    let mut found = Findings {
        warnings: traces::missing(trace, gap),
        ..Findings::default()
    };
    let names = Names::new(trace.tables());
    if let Some(footer) = trace.footer() {
        found.skipped = footer.skipped.iter().map(skipped).collect();
    }
    found.summary = Some(Summary {
        classes_instrumented: trace
            .footer()
            .map_or(0, |footer| footer.classes_instrumented),
        events: Some(events),
        threads: trace
            .thread_counts()
            .filter(|(t, _)| !names.is_system(*t))
            .count() as u64,
        ended: RunEnd::Exit,
        ..Summary::default()
    });
    found
}

/// A lock and how it was held.
pub(crate) struct HeldLock {
    pub lock: ObjId,
    pub shared: bool,
}

fn skipped(skipped: &trace::tables::Skipped) -> finding::Skipped {
    finding::Skipped {
        class: dotted(&skipped.class),
        method: skipped.method.as_ref().map(|m| m.to_string()),
        why: skipped.why.to_string(),
    }
}

/// The name of a thread, or a number if the recording has none.
pub(crate) fn thread_name(tables: &Tables, id: ThreadId) -> String {
    match tables.threads.get(&id) {
        Some(thread) => thread.name.to_string(),
        None => format!("thread {}", id.0),
    }
}

/// Names for numbers.
pub(crate) struct Names<'a> {
    pub tables: &'a Tables,
    owners: Owners,
}

impl<'a> Names<'a> {
    pub fn new(tables: &'a Tables) -> Names<'a> {
        Names {
            tables,
            owners: Owners::new(tables),
        }
    }

    pub fn race(&self, finding: &Finding, detector: &str, locks: &[HeldLock]) -> Race {
        let locks = locks.iter().map(|held| self.lock(held)).collect();
        Race {
            detector: detector.to_owned(),
            sites: None,
            location: self.location(finding),
            accesses: [
                self.access(&finding.first, None),
                self.access(&finding.second, Some(locks)),
            ],
            allocated: self.allocated(finding.loc.obj),
            count: finding.count,
        }
    }

    fn access(&self, access: &::detect::Access, locks: Option<Vec<String>>) -> finding::Access {
        finding::Access {
            op: if access.write {
                AccessOp::Write
            } else {
                AccessOp::Read
            },
            thread: self.thread(access.thread),
            frame: self.frame(access.site),
            stack: Vec::new(),
            stack_exact: false,
            holders: Vec::new(),
            locks,
        }
    }

    fn is_system(&self, thread: ThreadId) -> bool {
        self.tables
            .threads
            .get(&thread)
            .is_some_and(|thread| thread.system)
    }

    pub fn thread(&self, id: ThreadId) -> finding::Thread {
        let row = self.tables.threads.get(&id);
        let created = row
            .into_iter()
            .flat_map(|thread| &thread.created_at)
            .map(|at| Frame {
                class: dotted(&at.class),
                method: at.method.to_string(),
                file: at.file.as_ref().map(|f| f.to_string()),
                line: at.line,
                jdk: self.owners.told(&at.class.replace('.', "/")),
                ..Frame::default()
            });
        finding::Thread {
            id: u64::from(id.0),
            name: thread_name(self.tables, id),
            created: created.collect(),
            test: 0,
        }
    }

    /// Of a statement inside `java.util.concurrent`: the program's call that led there, if known.
    pub fn frame(&self, id: SiteId) -> Frame {
        let found = self.tables.sites.get(&id);
        let call = found.and_then(|site| self.tables.sites.get(&site.call?));
        match call.or(found) {
            Some(site) => self.frame_of(site),
            None => Frame {
                method: format!("statement {}", id.0),
                ..Frame::default()
            },
        }
    }

    /// The field that a statement of the program accesses: `Bank.total`.
    pub fn accessed(&self, id: SiteId) -> Option<String> {
        let site = self.tables.sites.get(&id)?;
        let target = site.target.as_ref().filter(|_| site.kind.is_field())?;
        let class = target.class.rsplit('/').next().unwrap_or(&target.class);
        Some(format!("{}.{}", class.replace('$', "."), target.name))
    }

    /// Where an object was allocated, if that was kept.
    fn allocated(&self, id: ObjId) -> Option<Frame> {
        let object = self.tables.objects.get(&id)?;
        self.tables
            .sites
            .get(&object.site)
            .map(|s| self.frame_of(s))
    }

    pub fn lock(&self, held: &HeldLock) -> String {
        let class = self
            .tables
            .objects
            .get(&held.lock)
            .map(|object| class_name(&object.class));
        let shared = if held.shared { " (shared)" } else { "" };
        format!(
            "{}@{}{shared}",
            class.as_deref().unwrap_or("lock"),
            held.lock.0
        )
    }

    fn location(&self, finding: &Finding) -> Location {
        self.location_of(finding.loc, [finding.first.site, finding.second.site])
    }

    /// A location, as the statements that access it name it.
    pub fn location_of(&self, loc: Loc, sites: [SiteId; 2]) -> Location {
        let sites = sites.map(|id| self.tables.sites.get(&id));
        let object = self.tables.objects.get(&loc.obj);
        let is_array = object.is_some_and(|object| object.class.starts_with('['))
            || sites.iter().flatten().any(|site| site.kind.is_element());
        if is_array {
            let from = sites.iter().flatten().find_map(|s| s.array_from.as_ref());
            let from = from.map(|from| ArraySource::from(dotted(from)));
            let owner = from.as_ref().and_then(ArraySource::class);
            return Location::Array {
                jdk: owner.and_then(|class| self.owners.told(&class.replace('.', "/"))),
                array: object.map_or_else(|| "array".to_owned(), |o| class_name(&o.class)),
                index: Some(loc.slot),
                from,
                allocated: None,
            };
        }
        // By the class that declares it; else as a statement names it; else by
        // what is known of the object.
        let target = || {
            sites
                .iter()
                .flatten()
                .find_map(|s| Some((s, s.target.as_ref()?)))
        };
        if let Some(field) = self.tables.fields.get(&loc.slot) {
            Location::Field {
                jdk: self.owners.told(&field.class),
                class: dotted(&field.class),
                field: field.name.to_string(),
                is_static: field.flags & ACC_STATIC != 0,
            }
        } else if let Some((site, member)) = target() {
            Location::Field {
                jdk: self.owners.told(&member.class),
                class: dotted(&member.class),
                field: member.name.to_string(),
                is_static: matches!(site.kind, SiteKind::StaticRead | SiteKind::StaticWrite),
            }
        } else {
            Location::Field {
                jdk: object.and_then(|object| self.owners.told(&object.class)),
                class: object
                    .map(|object| class_name(&object.class))
                    .unwrap_or_default(),
                field: format!("field {}", loc.slot),
                is_static: false,
            }
        }
    }

    fn frame_of(&self, site: &Site) -> Frame {
        Frame {
            class: dotted(&site.class),
            method: site.method.to_string(),
            desc: Some(site.desc.to_string()),
            file: site.file.as_ref().map(|f| f.to_string()),
            line: site.line,
            bci: Some(site.bci),
            jdk: self.owners.told(&site.class),
        }
    }
}

/// A class as Java writes it: `java/lang/String` and `[[I` become
/// `java.lang.String` and `int[][]`.
fn class_name(internal: &str) -> String {
    let element = internal.trim_start_matches('[');
    let dimensions = internal.len() - element.len();
    if dimensions == 0 {
        return dotted(internal);
    }
    let name = match element {
        "Z" => "boolean".to_owned(),
        "B" => "byte".to_owned(),
        "C" => "char".to_owned(),
        "S" => "short".to_owned(),
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        class => dotted(
            class
                .strip_prefix('L')
                .and_then(|c| c.strip_suffix(';'))
                .unwrap_or(class),
        ),
    };
    name + &"[]".repeat(dimensions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_as_java_writes_them() {
        assert_eq!(class_name("java/lang/String"), "java.lang.String");
        assert_eq!(class_name("[I"), "int[]");
        assert_eq!(
            class_name("[[Ljava/util/Map$Entry;"),
            "java.util.Map$Entry[][]"
        );
        assert_eq!(class_name("["), "[]");
        assert_eq!(class_name(""), "");
    }
}
