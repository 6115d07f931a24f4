//! `trace`: what is in a recorded trace, and making others of it.

use crate::args::{ConvertArgs, CutArgs, MergeArgs, TraceCommand};
use crate::exit::{self, Failure};
use crate::say::{self, say, say_on};
use anyhow::Context;
use encoding::names::dotted;
use engine::traces::{TraceFile, missing, open};
use findings::text::{clean, clean_lines};
use std::fmt::Write as _;
use std::fs::{File, Permissions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use trace::std_text::{self, Exported, Strictness};
use trace::{Cut, Ending, Input, JoinError, Part, Stats, ThreadId, Trace};

/// Sites and fields listed by `stats`.
const TOP: usize = 10;

pub fn command(command: &TraceCommand) -> Result<u8, Failure> {
    let (text, missing) = match command {
        TraceCommand::Info { file } => {
            let trace = open(file)?;
            (info(&trace, file), missing(&trace, None))
        }
        TraceCommand::Stats { file } => stats(&mut open(file)?)?,
        TraceCommand::Convert(args) => convert(args)?,
        TraceCommand::Cut(args) => cut(args)?,
        TraceCommand::Merge(args) => merge(args)?,
    };
    for text in &missing {
        say!("warning: {text}");
    }
    let code = match missing[..] {
        [] => exit::NOTHING_FOUND,
        _ => exit::LIMIT,
    };
    say::answer(text)?;
    Ok(code)
}

/// What is printed, and what the trace lacks.
type Told = (String, Vec<String>);

/// One line about a trace: how much is in it, and whether it is whole.
pub fn summary<R>(trace: &Trace<R>, path: &Path) -> String {
    let (events, (event_bytes, bytes)) = (trace.event_count(), trace.sizes());
    format!(
        "{}: {events} events of {} threads in {bytes} bytes ({:.1} an event){}",
        clean_lines(&path.to_string_lossy()),
        trace.thread_counts().count(),
        per(event_bytes, events),
        match trace.ending() {
            Ending::Finished => String::new(),
            other => format!("; {}", ending(other)),
        }
    )
}

fn info<R>(trace: &Trace<R>, path: &Path) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "{key:<11} {value}");
    };
    let (major, minor) = trace.version();
    let (header, tables) = (trace.header(), trace.tables());
    line("file", clean_lines(&path.to_string_lossy()));
    line("format", format!("{major}.{minor}"));
    line("recorded by", clean(&header.tool));
    line("java", clean(&header.jdk));
    let command: Vec<&str> = header.command.iter().map(|part| &**part).collect();
    line("command", clean(&command.join(" ")));
    line("started", utc(header.start_ms));
    line("ended", ending(trace.ending()));
    if let Some(footer) = trace.footer() {
        if let Some(code) = footer.exit_code {
            line("exit code", code.to_string());
        }
        line(
            "coverage",
            format!(
                "{} classes instrumented, {} left alone",
                footer.classes_instrumented,
                footer.skipped.len()
            ),
        );
        if footer.dropped > 0 {
            line(
                "dropped",
                format!("{} records that made no sense", footer.dropped),
            );
        }
    }
    if let Some(part) = trace.part() {
        line(
            "part",
            match part {
                Part::Places(p) if p.is_empty() => "no event of the run".into(),
                Part::Places(p) => format!("events {} to {} of the run", p.start, p.end - 1),
                Part::SomeThreads => "some threads of the run".into(),
            },
        );
    }
    let (event_bytes, bytes) = trace.sizes();
    let events = trace.event_count();
    line(
        "size",
        format!("{bytes} bytes, {event_bytes} of them events"),
    );
    line(
        "events",
        format!("{events}, {:.2} bytes each", per(event_bytes, events)),
    );
    line(
        "tables",
        format!(
            "{} sites, {} fields, {} classes, {} methods, {} objects",
            tables.sites.len(),
            tables.fields.len(),
            tables.classes.len(),
            tables.methods.len(),
            tables.objects.len()
        ),
    );
    for (thread, events) in trace.thread_counts() {
        line(
            "thread",
            format!(
                "{:<4} {events:>12}  {}",
                thread.0,
                thread_name(trace, thread)
            ),
        );
    }
    text
}

fn stats(trace: &mut TraceFile) -> Result<Told, Failure> {
    let stats = Stats::collect(trace, TOP).context("cannot read the events")?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} events, {} of them plain accesses to {} locations; {:.2} bytes an event",
        stats.events, stats.accesses, stats.locations, stats.bytes_per_event
    );
    if let Some(gap) = stats.gap {
        let _ = writeln!(
            text,
            "{} synchronisation events are missing, the first of them number {}: \
             detectors stop there",
            stats.missing, gap.first
        );
    }
    let share = |n: u64| 100.0 * per(n, stats.events);
    let mut kinds: Vec<_> = stats.kinds.iter().collect();
    kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
    text.push_str("\nby kind\n");
    for (kind, &count) in kinds {
        let _ = writeln!(text, "{count:>14} {:>5.1}%  {kind}", share(count));
    }
    text.push_str("\nby thread\n");
    for (&thread, &count) in &stats.threads {
        let name = thread_name(trace, thread);
        let _ = writeln!(
            text,
            "{count:>14} {:>5.1}%  {} {name}",
            share(count),
            thread.0
        );
    }
    let tables = trace.tables();
    text.push_str("\nmost accessed fields\n");
    for (field, count) in &stats.fields {
        let name = match tables.fields.get(field) {
            Some(field) => format!("{}.{}", dotted(&field.class), field.name),
            None => format!("field {field}"),
        };
        let _ = writeln!(
            text,
            "{count:>14} {:>5.1}%  {}",
            share(*count),
            clean(&name)
        );
    }
    text.push_str("\nbusiest statements\n");
    for (site, count) in &stats.sites {
        let name = match tables.sites.get(site) {
            Some(site) => {
                let file = site.file.as_deref().unwrap_or("?");
                let at = site
                    .line
                    .map_or_else(|| format!("@{}", site.bci), |line| line.to_string());
                format!("{}.{} ({file}:{at})", dotted(&site.class), site.method)
            }
            None => format!("statement {}", site.0),
        };
        let _ = writeln!(
            text,
            "{count:>14} {:>5.1}%  {}",
            share(*count),
            clean(&name)
        );
    }
    Ok((text, missing(trace, stats.gap)))
}

/// Into the form that the input is not in. What was lost on the way is said on
/// standard error.
fn convert(args: &ConvertArgs) -> Result<Told, Failure> {
    let file = File::open(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))
        .map_err(|error| Failure {
            code: exit::USAGE,
            error,
        })?;
    match Trace::open(file) {
        Ok(mut trace) => {
            let exported = if args.output == Path::new("-") {
                match std_text::export(&mut trace, std::io::stdout().lock()) {
                    // The reader has seen enough.
                    Err(trace::Error::Io(e)) if e.kind() == ErrorKind::BrokenPipe => {
                        return Ok((String::new(), missing(&trace, None)));
                    }
                    other => other,
                }
            } else {
                let mut out = BufWriter::new(create(&args.output, &args.file)?);
                std_text::export(&mut trace, &mut out)
                    .and_then(|exported| Ok(out.flush().map(|()| exported)?))
            };
            let exported = exported.context("cannot write STD text")?;
            say_on!("{}", losses(&exported));
            Ok((String::new(), missing(&trace, exported.gap)))
        }
        Err(trace::Error::NotATrace) => Ok((import(args)?, Vec::new())),
        Err(error) => Err(Failure {
            code: exit::USAGE,
            error: error.into(),
        }),
    }
}

fn import(args: &ConvertArgs) -> Result<String, Failure> {
    let strictness = if args.lenient {
        Strictness::Lenient
    } else {
        Strictness::Strict
    };
    let file = File::open(&args.file).context("the file was there a moment ago")?;
    let out = BufWriter::new(create(&args.output, &args.file)?);
    let (out, imported) = std_text::convert(file, strictness, out)
        .with_context(|| format!("{} is no trace, and as STD text", args.file.display()))
        .map_err(|error| Failure {
            code: exit::USAGE,
            error,
        })?;
    out.into_inner()
        .map_err(|e| e.into_error())
        .context("cannot write the trace")?;
    if let Some((line, why)) = imported.first_skipped {
        say!(
            "{} lines left out, the first of them {line}: it {why}",
            imported.skipped
        );
    }
    if imported.reentrant > 0 {
        say!(
            "{} re-entrant acquisitions and releases left out",
            imported.reentrant
        );
    }
    Ok(summary(&open(&args.output)?, &args.output) + "\n")
}

fn losses(exported: &Exported) -> String {
    let mut text = format!("{} lines\n", exported.lines);
    let lists = [
        ("left out, STD has no word for it", &exported.left_out),
        ("became something stronger", &exported.approximated),
    ];
    for (what, kinds) in lists {
        for (kind, count) in kinds {
            let _ = writeln!(text, "{count:>14}  {kind}: {what}");
        }
    }
    if exported.unmatched > 0 {
        let _ = writeln!(
            text,
            "{:>14}  unmatched lock operations left out",
            exported.unmatched
        );
    }
    text
}

/// What the input lacks the output lacks as well, and cannot say.
fn cut(args: &CutArgs) -> Result<Told, Failure> {
    let mut trace = open(&args.file)?;
    let what = Cut {
        events: args.events.clone().unwrap_or(0..u64::MAX),
        seqs: args.seqs.clone().unwrap_or(0..u64::MAX),
        threads: match args.threads.as_slice() {
            [] => None,
            threads => Some(threads.iter().map(|&n| ThreadId(n)).collect()),
        },
        across_gaps: args.across_gaps,
    };
    let out = create(&args.output, &args.file)?;
    let (out, kept) = trace::cut(&mut trace, &what, BufWriter::new(out)).context("cannot cut")?;
    out.into_inner()
        .map_err(|e| e.into_error())
        .context("cannot write the new trace")?;
    let text = summary(&open(&args.output)?, &args.output) + "\n";
    let gap = kept.gap.filter(|_| !args.across_gaps);
    Ok((text, missing(&trace, gap)))
}

/// Into a file beside the output first: traces that do not belong together
/// leave nothing behind.
fn merge(args: &MergeArgs) -> Result<Told, Failure> {
    let (mut inputs, mut lacks) = (Vec::new(), Vec::new());
    for file in &args.files {
        if is_same(&args.output, file) {
            return Err(Failure::usage(
                "the output must be another file than the inputs",
            ));
        }
        let (name, trace) = (clean_lines(&file.to_string_lossy()), open(file)?);
        let texts = missing(&trace, None).into_iter();
        lacks.extend(texts.map(|text| format!("{name}: {text}")));
        inputs.push(Input { name, trace });
    }
    let dir = args.output.parent().filter(|dir| *dir != Path::new(""));
    let out = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666)) // as any new file: less the umask
        .tempfile_in(dir.unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot write {}", args.output.display()))
        .map_err(|error| Failure {
            code: exit::USAGE,
            error,
        })?;
    let (out, joined) = trace::join(&mut inputs, BufWriter::new(out)).map_err(|error| {
        let code = match error {
            JoinError::Write(_) => exit::TOOL_FAILED,
            _ => exit::USAGE,
        };
        let error = anyhow::Error::from(error).context("cannot merge");
        Failure { code, error }
    })?;
    let out = out
        .into_inner()
        .map_err(|e| e.into_error())
        .context("cannot write the new trace")?;
    out.persist(&args.output)
        .map_err(|e| e.error)
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    for name in &joined.cut_short {
        lacks.push(format!("{name} was taken up to its first lost event"));
    }
    let of = match joined.runs {
        1 => format!("{} parts of a run", args.files.len()),
        runs => format!("{runs} runs"),
    };
    let text = summary(&open(&args.output)?, &args.output);
    Ok((format!("{of}\n{text}\n"), lacks))
}

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A file to write, which must not be the one being read.
fn create(output: &Path, input: &Path) -> Result<File, Failure> {
    if is_same(output, input) {
        return Err(Failure::usage(
            "the output must be another file than the input",
        ));
    }
    File::create(output)
        .with_context(|| format!("cannot write {}", output.display()))
        .map_err(|error| Failure {
            code: exit::USAGE,
            error,
        })
}

fn thread_name<R>(trace: &Trace<R>, thread: ThreadId) -> String {
    trace
        .tables()
        .threads
        .get(&thread)
        .map(|t| clean(&t.name))
        .unwrap_or_default()
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "with the program".into(),
        Ending::Unfinished => {
            "before the program's last events were written: it was killed, or still runs".into()
        }
        Ending::Truncated { offset } => format!("in the middle of a chunk, at byte {offset}"),
        Ending::Damaged { offset, what } => format!("damaged at byte {offset}: {what}"),
    }
}

fn per(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Milliseconds since 1970 as date and time.
fn utc(ms: u64) -> String {
    let at = i64::try_from(ms).map(jiff::Timestamp::from_millisecond);
    match at {
        Ok(Ok(at)) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        _ => "at a time that no calendar has".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_399_000), "2000-02-28 23:59:59 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_794_734_472_000), "2026-11-15 09:21:12 UTC");
        assert!(utc(u64::MAX).contains("no calendar"));
    }
}
