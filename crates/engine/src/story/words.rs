//! A run in a few lines: the accesses to what races, with their values, or the locks of a deadlock; then what
//! came of it. Steps that say nothing about the finding are left out, and what a thread
//! does several times in a row is one line.

use super::goal::{Goal, Shown};
use super::stuck;
use findings::confirmed::Effect;
use findings::finding::{Frame, Location, place};
use findings::story::StoryLine;
use schedule::labels::what;
use schedule::log::{Entry, Log, Site, Told};
use schedule::{Op, Thread};

/// Lines of a story, at most.
pub(super) const MOST: usize = 8;

/// The story of a run. `is_wide`: accesses to all that races are told, not only to the field of the race.
pub(super) fn lines(log: &Log, goal: &Goal, shown: &Shown, is_wide: bool) -> Vec<StoryLine> {
    let (before, end) = match &shown.stuck {
        Some(stuck) if !matches!(goal, Goal::Race { .. }) => stuck::lines(log, stuck),
        _ => (
            accesses(log, goal, shown, is_wide),
            ending(log, goal, shown),
        ),
    };
    let mut lines = folded(before);
    let room = MOST.saturating_sub(end.len());
    let first = lines.len().saturating_sub(room);
    lines.drain(..first);
    lines.extend(end);
    lines.truncate(MOST);
    lines
}

fn thread_name(log: &Log, thread: Thread) -> String {
    match log.threads.get(&thread) {
        Some(row) if !row.name.is_empty() => row.name.clone(),
        _ => format!("thread {thread}"),
    }
}

pub(super) fn line(log: &Log, thread: Thread, text: String, site: Option<&Site>) -> StoryLine {
    StoryLine {
        thread: thread_name(log, thread),
        text,
        file: site.and_then(|site| site.file.clone()),
        line: site.and_then(|site| site.line),
    }
}

/// The accesses that the story is about, in order.
fn accesses(log: &Log, goal: &Goal, shown: &Shown, is_wide: bool) -> Vec<StoryLine> {
    let is_meant = |told: &Told| match goal {
        Goal::Race { race, .. } if !is_wide => meant(log, &race.location, told),
        _ => true,
    };
    let all: Vec<(usize, &Told)> = { log.told.iter().enumerate() }
        .filter(|(_, told)| is_meant(told))
        .collect();
    let mut lines = Vec::new();
    for (place, (_, told)) in all
        .iter()
        .enumerate()
        .filter(|(_, (at, _))| *at < shown.told)
    {
        let mut later = all[place + 1..].iter().map(|(_, other)| other);
        let after = later.find(|other| same_variable(log, told, other));
        let text = access(log, told, after.map(|other| other.value.as_str()));
        let call = told.call.and_then(|call| log.sites.get(&call));
        let site = call.or_else(|| log.sites.get(&told.op.site));
        lines.push(line(log, told.thread, text, site));
    }
    lines
}

fn target<'l>(log: &'l Log, op: &Op) -> &'l str {
    log.sites
        .get(&op.site)
        .map_or("", |site| site.target.as_str())
}

/// Whether an access is to what races: by the field, or else by the kind of place.
fn meant(log: &Log, location: &Location, told: &Told) -> bool {
    let target = target(log, &told.op);
    match location {
        Location::Field { class, field, .. } => {
            let simple = class.rsplit('.').next().unwrap_or(class);
            target == format!("{simple}.{field}") || target.ends_with(&format!(".{field}"))
        }
        Location::Array { .. } => target.ends_with("[]") || target.is_empty(),
    }
}

fn same_variable(log: &Log, a: &Told, b: &Told) -> bool {
    let same_object = a.op.obj == b.op.obj || a.op.obj == 0 || b.op.obj == 0;
    same_object && a.op.slot == b.op.slot && target(log, &a.op) == target(log, &b.op)
}

/// `after`: what the variable holds at its next access.
fn access(log: &Log, told: &Told, after: Option<&str>) -> String {
    let target = target(log, &told.op);
    let name = match target.strip_suffix("[]") {
        Some(array) => format!("an element of {array}"),
        None if target.is_empty() => "an element of an array".to_owned(),
        None => target.replace('$', "."),
    };
    let text = match (told.op.kind.is_write(), after) {
        (false, _) => format!("reads {name} ({})", told.value),
        (true, Some(value)) => format!("sets {name} = {value}"),
        (true, None) => format!("writes {name} (it was {})", told.value),
    };
    match told.call.and_then(|call| log.sites.get(&call)) {
        Some(call) if !call.target.is_empty() => format!("{text} in {}", call.target),
        _ => text,
    }
}

/// What it came to.
fn ending(log: &Log, goal: &Goal, shown: &Shown) -> Vec<StoryLine> {
    if let Some(uncaught) = &shown.uncaught {
        let text = match uncaught.exception.split_once(':') {
            Some((class, message)) => format!("{}:{message}", simple(class)),
            None => simple(&uncaught.exception).to_owned(),
        };
        return vec![at_frame(&uncaught.thread, text, place(&uncaught.stack)[1])];
    }
    if let Some(stuck) = &shown.stuck {
        return stuck::ending(stuck, |_| None);
    }
    let Goal::Race { outcome, .. } = goal else {
        return Vec::new();
    };
    let outcome = outcome.as_ref();
    match outcome.filter(|o| !matches!(o.result, Effect::Ok)) {
        Some(outcome) => vec![at_frame(
            "the program",
            deed(&outcome.detail),
            place(&outcome.stack)[1],
        )],
        None => beside(log, shown).into_iter().collect(),
    }
}

/// What the program did, after its name: `prints "3", not "4"`.
pub(super) fn deed(detail: &str) -> String {
    detail.strip_prefix("it ").unwrap_or(detail).to_owned()
}

/// Nothing came of it: that the two stood side by side is all there is to say.
fn beside(log: &Log, shown: &Shown) -> Option<StoryLine> {
    let Some(Entry::Hit(hit)) = log.entries.get(shown.hit?) else {
        return None;
    };
    let names = [hit.first, hit.second].map(|r| thread_name(log, r.thread));
    let [first, second] = [hit.first, hit.second].map(|r| {
        let site = log.sites.get(&r.op.site);
        let place = site.and_then(|s| Some(format!("{}:{}", s.file.as_ref()?, s.line?)));
        place.unwrap_or_else(|| what(&r.op, target(log, &r.op)))
    });
    Some(StoryLine {
        thread: names[1].clone(),
        text: format!(
            "stood at {second} while {} was at {first}: nothing orders the two",
            names[0]
        ),
        file: None,
        line: None,
    })
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

pub(super) fn at_frame(thread: &str, text: String, frame: Option<&Frame>) -> StoryLine {
    StoryLine {
        thread: thread.to_owned(),
        text,
        file: frame.and_then(|f| f.file.clone()),
        line: frame.and_then(|f| f.line),
    }
}

/// What is said several times in a row is said once.
fn folded(lines: Vec<StoryLine>) -> Vec<StoryLine> {
    let mut all: Vec<(StoryLine, u32)> = Vec::new();
    for line in lines {
        match all.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => all.push((line, 1)),
        }
    }
    let told = all.into_iter().map(|(mut line, times)| {
        if times > 1 {
            line.text += &format!(", {times} times");
        }
        line
    });
    told.collect()
}
