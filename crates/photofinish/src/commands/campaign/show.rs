//! What a campaign has found: lines, tables, reports and the live page.

use super::{Opened, failure, server, with};
use crate::args::Show;
use crate::args::campaign::{CampaignReport, Status, Watch};
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::say::{self, say};
use crate::show as shown;
use campaign::account::Account;
use campaign::coordinator;
use campaign::execute::{self, Machine};
use campaign::page;
use campaign::queue::Queue;
use campaign::replays;
use campaign::unit::{KeptSchedule, State, WorkerStatus, now};
use engine::keep::Keeper;
use engine::{Facts, Verdict, decide};
use findings::result::Report;
use findings::text::{clean, counted};
use report::timeline::Timelines;
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// A campaign in a line.
pub fn line(account: &Account) -> String {
    let orders: usize = account.programs.iter().map(|p| p.orders.len()).sum();
    let findings: usize = account.programs.iter().map(|p| p.findings()).sum();
    let mut line = format!(
        "{}: {} of {}, {}, {}, {}",
        clean(&account.campaign.name),
        account.plan.done(),
        counted(account.made(), "unit", "units"),
        counted(account.executions, "run", "runs"),
        counted(orders as u64, "partial order", "partial orders"),
        counted(findings as u64, "finding", "findings"),
    );
    if account.given_up > 0 {
        let units = counted(account.given_up, "unit", "units");
        line += &format!(", {units} given up");
    }
    if account.refused > 0 {
        let results = counted(account.refused, "result", "results");
        line += &format!(", {results} refused");
    }
    line
}

/// Everything that is stored of a campaign.
async fn account(opened: &Opened) -> Result<Account, Failure> {
    let folded = with!(opened, queue => {
        let mut account = Account::new(queue.campaign());
        let done = coordinator::catch_up(queue, &mut account, &mut ()).await;
        account.published = queue.made().await.unwrap_or_default();
        done.map(|()| account)
    });
    folded.map_err(failure)
}

async fn state(opened: &Opened) -> Result<(State, Vec<WorkerStatus>), Failure> {
    let state = with!(opened, queue => queue.state().await).map_err(failure)?;
    let workers = with!(opened, queue => queue.workers().await).map_err(failure)?;
    Ok((state, workers))
}

pub async fn status(args: &Status) -> Result<u8, Failure> {
    let server = server(&args.place.server).await?;
    let names = match &args.name {
        Some(name) => vec![name.clone()],
        None => args.place.names(server.as_ref()).await?,
    };
    if names.is_empty() && !args.json {
        say!("there is no campaign here");
    }
    let (mut all, mut text, mut code) = (Vec::new(), String::new(), exit::NOTHING_FOUND);
    for name in names {
        let known = match args.place.open(server.as_ref(), &name).await {
            Ok(opened) => folded(&opened).await,
            Err(failure) => Err(failure),
        };
        let (account, state, workers) = match known {
            Ok(known) => known,
            Err(failure) if args.name.is_some() => return Err(failure),
            // The others are as good as before.
            Err(failure) => {
                let name = clean(&name);
                let why = clean(&failure.error.to_string());
                say!("campaign {name} cannot be shown: {why}");
                code = failure.code;
                continue;
            }
        };
        if args.json {
            all.push(summary(&account, state, &workers));
            continue;
        }
        text += &told(&account, state, &workers);
    }
    if args.json {
        text = serde_json::to_string_pretty(&all)? + "\n";
    }
    say::answer(text)?;
    Ok(code)
}

/// What is known of a campaign.
async fn folded(opened: &Opened) -> Result<(Account, State, Vec<WorkerStatus>), Failure> {
    let account = account(opened).await?;
    let (state, workers) = state(opened).await?;
    Ok((account, state, workers))
}

/// A campaign for people.
fn told(account: &Account, state: State, workers: &[WorkerStatus]) -> String {
    let jobs: u32 = workers.iter().map(|worker| worker.jobs).sum();
    let (count, jobs) = (
        counted(workers.len() as u64, "worker", "workers"),
        counted(jobs.into(), "job", "jobs"),
    );
    let mut lines = vec![
        line(account),
        format!("  {}, {count} with {jobs}", word(state)),
    ];
    for worker in workers {
        let doing: Vec<String> = worker.doing.iter().map(|text| clean(text)).collect();
        let units = counted(worker.units, "unit", "units");
        let name = clean(&worker.name);
        lines.push(format!("  {name}: {units}; {}", doing.join("; ")));
    }
    for (program, number) in account.campaign.programs.iter().zip(0..) {
        let Some(explored) = account.plan.exploration(number) else {
            continue;
        };
        let classes = counted(explored.classes, "class", "classes");
        let how = match (explored.complete, explored.estimate) {
            (true, _) => "complete".to_owned(),
            (false, Some(all)) => format!("of an estimated {all:.0}"),
            (false, None) => "not complete".to_owned(),
        };
        let name = clean(&program.name);
        let round = explored.rounds;
        lines.push(format!(
            "  all schedules of {name}: {classes} in round {round}, {how}"
        ));
    }
    for (unit, why) in &account.why_given_up {
        lines.push(format!("  given up: {}: {}", clean(unit), clean(why)));
    }
    for why in &account.why_refused {
        lines.push(format!("  {}", clean(why)));
    }
    lines.join("\n") + "\n"
}

fn word(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Stopped => "stopped",
        State::Done => "done",
    }
}

fn summary(account: &Account, state: State, workers: &[WorkerStatus]) -> serde_json::Value {
    let programs = account.programs.iter().zip(&account.campaign.programs);
    let programs = programs.zip(0..).map(|((program, described), number)| {
        let explored = account.plan.exploration(number);
        let explored = explored.map(|it| {
            json!({ "complete": it.complete, "classes": it.classes, "estimate": it.estimate,
                    "rounds": it.rounds })
        });
        json!({ "name": described.name, "units": program.units, "executions": program.executions,
                "orders": program.orders.len(), "findings": program.findings(),
                "exploration": explored })
    });
    let arms = account
        .plan
        .arms()
        .map(|(name, made, done)| json!({ "arm": name, "made": made, "done": done }));
    json!({
        "name": account.campaign.name, "state": state, "started": account.campaign.started, "now": now(),
        "units": { "made": account.made(), "done": account.plan.done(),
                   "stored": account.read,
                   "given_up": account.given_up, "refused": account.refused },
        "executions": account.executions, "seconds": account.seconds,
        "programs": programs.collect::<Vec<_>>(), "arms": arms.collect::<Vec<_>>(), "workers": workers,
    })
}

pub async fn report(args: &CampaignReport) -> Result<u8, Failure> {
    let outputs = Outputs::open(&args.show)?;
    let opened = args.place.find(args.name.as_deref()).await?;
    let account = account(&opened).await?;
    let (state, _) = state(&opened).await?;
    if !args.show.quiet {
        say!("{}; {}", line(&account), word(state));
    }
    let only = args.program.as_deref();
    let code = answer(&account, &args.show, outputs, only, args.output.as_deref())?;
    Ok(match (code, state) {
        (exit::NOTHING_FOUND, State::Running) => exit::LIMIT,
        (code, _) => code,
    })
}

/// Where the findings of a campaign go: to all files, and as text. With several programs, a verdict
/// for each comes first, and the report has what all of them found. `output` keeps the result of one program.
pub fn answer(
    account: &Account,
    show: &Show,
    outputs: Outputs,
    only: Option<&str>,
    output: Option<&Path>,
) -> Result<u8, Failure> {
    let suppress = shown::suppressions(show)?;
    let fail_on = show.fail_on.status();
    let programs = &account.campaign.programs;
    let wanted = |at: &usize| only.is_none_or(|only| programs[*at].name == only);
    let chosen: Vec<usize> = (0..programs.len()).filter(wanted).collect();
    let mut keeping = keeping(account, &chosen, output)?;
    let mut whole: Option<Report> = None;
    let (mut verdicts, mut replayable) = (Vec::new(), 0);
    for &at in &chosen {
        let keeper = keeping.as_ref();
        let command = |name: &str| Some(keeper?.command(name));
        let (mut report, kept) = account.told(at, command);
        replayable += kept.len();
        if let Some(keeper) = &mut keeping {
            keep(keeper, kept, &mut report);
        }
        suppress.apply(&mut report);
        let verdict = decide(Some(&report), fail_on, Facts::from_saved(&report));
        verdicts.push((at, verdict, report.races.len()));
        if chosen.len() > 1 {
            // That of one program says nothing of the others.
            report.exploration = None;
        }
        match &mut whole {
            Some(whole) => {
                whole.not_exercised &= report.not_exercised;
                whole.absorb(report);
            }
            None => whole = Some(report),
        }
    }
    let Some(whole) = whole else {
        let names: Vec<String> = programs.iter().map(|p| clean(&p.name)).collect();
        return Err(Failure::usage(format!(
            "there is no such program; there are: {}",
            names.join(", ")
        )));
    };
    if chosen.len() > 1 && !show.quiet {
        for (at, verdict, races) in &verdicts {
            let word = match verdict {
                Verdict::Found => "found",
                Verdict::NothingFound => "nothing found",
                Verdict::NotExercised => "not exercised",
                Verdict::Limit => "limit reached",
                Verdict::ToolFailed => "tool failed",
            };
            let races = counted(*races as u64, "race", "races");
            say!("{:<14} {}, {races}", word, clean(&programs[*at].name));
        }
    }
    let timelines = match chosen[..] {
        [at] => page::timelines(account, at),
        _ => Timelines::new(),
    };
    let program: Vec<OsString> = whole.program.args.iter().map(OsString::from).collect();
    let (whole, facts) = match keeping {
        Some(keeper) => {
            let answer = keeper.finish(whole);
            (answer.report, answer.facts)
        }
        None => {
            let facts = Facts::from_saved(&whole);
            (whole, facts)
        }
    };
    let verdict = decide(Some(&whole), fail_on, facts);
    let on_stdout = outputs.is_stdout();
    outputs.write_with(&whole, &timelines)?;
    if !on_stdout {
        shown::with_schedules(&whole, show, &program, &timelines, std::io::stderr())?;
    }
    if output.is_none() && replayable > 0 && !show.quiet {
        let name = &account.campaign.name;
        say!("`photofinish campaign report {name} -o DIR` keeps it with its schedules, to replay");
    }
    Ok(exit::code(verdict))
}

/// The directory in which the result of the one program is kept, if it is asked for.
fn keeping(
    account: &Account,
    chosen: &[usize],
    output: Option<&Path>,
) -> Result<Option<Keeper>, Failure> {
    let (Some(dir), Some(first)) = (output, chosen.first()) else {
        return Ok(None);
    };
    if chosen.len() > 1 {
        return Err(Failure::usage(
            "-o keeps the result of one program: name it with --program",
        ));
    }
    let campaign = &account.campaign;
    let args = campaign.programs[*first].original.clone();
    let launch = execute::launch(&campaign.launch, args, &Machine::default());
    Ok(Some(Keeper::create(dir, &launch)?))
}

fn keep(keeper: &mut Keeper, kept: Vec<KeptSchedule>, report: &mut Report) {
    for schedule in kept {
        let log = replays::log(&schedule).unwrap_or_default();
        if let Err(warning) = keeper.add(schedule.schedule, &log) {
            report.warnings.push(warning);
        }
    }
}

pub async fn watch(args: &Watch) -> Result<u8, Failure> {
    let opened = args.place.find(args.name.as_deref()).await?;
    let served = match opened {
        Opened::Here(queue) => page::serve(Arc::new(queue), args.listen).await,
        Opened::There(queue) => page::serve(Arc::new(*queue), args.listen).await,
    };
    let served = served.map_err(failure)?;
    if !args.listen.ip().is_loopback() {
        say!("whoever can reach {} can read this page", served.address);
    }
    say!("http://{}/", served.address);
    served.wait().await.map_err(failure)?;
    Ok(exit::NOTHING_FOUND)
}
