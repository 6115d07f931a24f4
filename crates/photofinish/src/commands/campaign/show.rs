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
use campaign::page;
use campaign::queue::Queue;
use campaign::unit::{State, WorkerStatus, now};
use engine::{Facts, Verdict, decide};
use findings::result::Report;
use findings::text::clean;
use report::timeline::Timelines;
use serde_json::json;
use std::ffi::OsString;
use std::sync::Arc;

/// A campaign in a line.
pub fn line(account: &Account) -> String {
    let plan = &account.plan;
    let orders: usize = account.programs.iter().map(|p| p.orders.len()).sum();
    let findings: usize = account.programs.iter().map(|p| p.findings()).sum();
    let mut line = format!(
        "{}: {} of {} units, {} runs, {orders} partial orders, {findings} findings",
        clean(&account.campaign.name),
        plan.done(),
        plan.made(),
        account.executions
    );
    if account.given_up > 0 {
        line += &format!(", {} units given up", account.given_up);
    }
    if account.refused > 0 {
        line += &format!(", {} results refused", account.refused);
    }
    line
}

/// Everything that is stored of a campaign.
async fn account(opened: &Opened) -> Result<Account, Failure> {
    let folded = with!(opened, queue => {
        let mut account = Account::new(queue.campaign());
        let done = coordinator::catch_up(queue, &mut account, &mut ()).await;
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
    let (mut all, mut text) = (Vec::new(), String::new());
    for name in names {
        let opened = args.place.open(server.as_ref(), &name).await?;
        let account = account(&opened).await?;
        let (state, workers) = state(&opened).await?;
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
    Ok(exit::NOTHING_FOUND)
}

/// A campaign for people.
fn told(account: &Account, state: State, workers: &[WorkerStatus]) -> String {
    let jobs: u32 = workers.iter().map(|worker| worker.jobs).sum();
    let (word, count) = (word(state), workers.len());
    let mut lines = vec![
        line(account),
        format!("  {word}, {count} workers with {jobs} jobs"),
    ];
    for worker in workers {
        let doing: Vec<String> = worker.doing.iter().map(|text| clean(text)).collect();
        let (name, units) = (clean(&worker.name), worker.units);
        lines.push(format!("  {name}: {units} units; {}", doing.join("; ")));
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
    let programs = programs.map(|(program, described)| {
        json!({ "name": described.name, "units": program.units, "executions": program.executions,
                "orders": program.orders.len(), "findings": program.findings() })
    });
    let arms = account
        .plan
        .arms()
        .map(|(name, made, done)| json!({ "arm": name, "made": made, "done": done }));
    json!({
        "name": account.campaign.name, "state": state, "started": account.campaign.started, "now": now(),
        "units": { "made": account.plan.made(), "done": account.plan.done(),
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
    let code = answer(&account, &args.show, outputs, only)?;
    Ok(match (code, state) {
        (exit::NOTHING_FOUND, State::Running) => exit::LIMIT,
        (code, _) => code,
    })
}

/// Where the findings of a campaign go: to all files, and as text. With several programs, a verdict
/// for each comes first, and the report has what all of them found.
pub fn answer(
    account: &Account,
    show: &Show,
    outputs: Outputs,
    only: Option<&str>,
) -> Result<u8, Failure> {
    let suppress = shown::suppressions(show)?;
    let fail_on = show.fail_on.status();
    let programs = &account.campaign.programs;
    let wanted = |at: &usize| only.is_none_or(|only| programs[*at].name == only);
    let chosen: Vec<usize> = (0..programs.len()).filter(wanted).collect();
    let mut whole: Option<Report> = None;
    let mut verdicts = Vec::new();
    for &at in &chosen {
        let mut report = account.report(at);
        suppress.apply(&mut report);
        let verdict = decide(Some(&report), fail_on, Facts::from_saved(&report));
        verdicts.push((at, verdict, report.races.len()));
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
            say!("{:<14} {}, {races} races", word, clean(&programs[*at].name));
        }
    }
    let timelines = match chosen[..] {
        [at] => page::timelines(account, at),
        _ => Timelines::new(),
    };
    let program: Vec<OsString> = whole.program.args.iter().map(OsString::from).collect();
    let verdict = decide(Some(&whole), fail_on, Facts::from_saved(&whole));
    let on_stdout = outputs.is_stdout();
    outputs.write_with(&whole, &timelines)?;
    if !on_stdout {
        shown::with_schedules(&whole, show, &program, &timelines, std::io::stderr())?;
    }
    Ok(exit::code(verdict))
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
