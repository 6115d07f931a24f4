//! `campaign start`: packs the program, makes the campaign, coordinates it; without a server it
//! works on it, too.

use super::{failure, server_in_time, show};
use crate::args::campaign::Start;
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::say::{say, say_on};
use anyhow::Context;
use campaign::account::Account;
use campaign::bundle::Packer;
use campaign::coordinator::{self, Ended, Watcher};
use campaign::embedded::Embedded;
use campaign::execute::Machine;
use campaign::nats;
use campaign::plan::VERIFY;
use campaign::queue::Queue;
use campaign::suite::{self, Test};
use campaign::unit::{self, Budget, Campaign, Launch, Program};
use campaign::worker::{self, Bundles, Tell, Worker};
use driver::interrupt::StopRequest;
use engine::launch;
use findings::text::clean;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::task::JoinHandle;

type Pieces = BTreeMap<String, Vec<u8>>;

pub async fn command(args: &Start) -> Result<u8, Failure> {
    let outputs = Outputs::open(&args.show)?;
    let server = server_in_time(&args.server, args.show.quiet).await?;
    let request = StopRequest::catch().context("cannot listen for signals")?;
    let stop = request.flag();
    match server {
        Some(server) => on_server(args, &server, outputs, &stop).await,
        None => here(args, outputs, &stop).await,
    }
}

async fn on_server(
    args: &Start,
    server: &nats::Server,
    outputs: Outputs,
    stop: &AtomicBool,
) -> Result<u8, Failure> {
    let known = match (&args.name, args.resume) {
        (Some(name), true) => Some(server.open(name).await),
        _ => None,
    };
    let queue = match known.filter(|known| !is_new(args, known)) {
        Some(known) => known,
        None => {
            let (campaign, pieces) = describe(args)?;
            server.create(campaign, &pieces).await
        }
    };
    let queue = queue.map_err(failure)?;
    let running = unit::State::Running;
    queue.set_state(running).await.map_err(failure)?;
    began(args, queue.campaign());
    let mut account = Account::new(queue.campaign());
    if args.detach {
        let units: Vec<_> = std::iter::from_fn(|| account.plan.next_unit())
            .take(DETACHED)
            .collect();
        queue.publish(&units).await.map_err(failure)?;
        let made = units.len() as u64;
        queue.set_made(made).await.map_err(failure)?;
        return Ok(exit::NOTHING_FOUND);
    }
    let mut lines = Lines::new(args.show.quiet);
    let ended = coordinator::coordinate(&queue, &mut account, stop, &mut lines).await;
    lines.clear();
    finish(args, outputs, &account, ended.map_err(failure)?)
}

/// Units of `verify` at a time, where nobody knows how many workers there will be.
const PORTIONS: u32 = 16;

/// Units that are published for a campaign that nobody coordinates yet.
const DETACHED: usize = 64;

async fn here(args: &Start, outputs: Outputs, stop: &Arc<AtomicBool>) -> Result<u8, Failure> {
    let results = &args.control.results;
    let known = match (&args.name, args.resume) {
        (Some(name), true) => Some(Embedded::open(results, name, true)),
        _ => None,
    };
    let queue = match known.filter(|known| !is_new(args, known)) {
        Some(known) => known,
        None => {
            let (campaign, pieces) = describe(args)?;
            if Embedded::names(results).contains(&campaign.name) {
                return Err(Failure::usage(format!(
                    "there is a campaign {name:?} in {} already: go on with it (--resume --name \
                     {name}), give another --name, or remove it (`campaign stop --delete {name}`)",
                    results.display(),
                    name = campaign.name,
                )));
            }
            Embedded::create(results, campaign, &pieces)
        }
    };
    let queue = queue.map_err(failure)?;
    queue
        .set_state(unit::State::Running)
        .await
        .map_err(failure)?;
    driver::process::close_input().context("cannot open /dev/null")?;
    began(args, queue.campaign());
    let jobs = args.jobs.unwrap_or_else(cores);
    let machine = Machine {
        java: args.launch.java.clone(),
        worker: worker::name(),
    };
    let bundles = Arc::new(Bundles::new().map_err(failure)?);
    let quiet = args.show.quiet;
    let tell: Tell = Arc::new(move |line: &str| {
        if !quiet {
            say!("{}", clean(line));
        }
    });
    let worker = Worker::new(
        Arc::new(queue.clone()),
        machine,
        bundles.clone(),
        stop.clone(),
        jobs,
        tell,
    );
    let resting = worker.clone();
    let mut working = tokio::spawn(async move { worker.run().await });
    let mut account = Account::new(queue.campaign());
    let mut lines = Lines::new(args.show.quiet);
    let coordinated = coordinator::coordinate(&queue, &mut account, stop, &mut lines);
    let ended = tokio::select! {
        ended = coordinated => ended,
        // Nobody else would do the work.
        error = failed(&mut working) => Err(error),
    };
    lines.clear();
    let ended = ended.map_err(failure)?;
    if ended == Ended::Interrupted && !working.is_finished() {
        // Runs end by the same signal; their units have no results.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(20), working).await;
    }
    // Tasks of the worker may go on for a while, and would not come to remove it.
    resting.rest().await;
    bundles.clear();
    finish(args, outputs, &account, ended)
}

/// Whether a campaign that was to go on is not there, and can be started.
fn is_new<T>(args: &Start, known: &Result<T, campaign::Error>) -> bool {
    matches!(known, Err(campaign::Error::Unknown(_))) && !args.launch.program.is_empty()
}

/// Why the worker could not go on; a worker that comes to its end is no reason.
async fn failed(working: &mut JoinHandle<Result<(), campaign::Error>>) -> campaign::Error {
    match working.await {
        Ok(Err(error)) => error,
        Ok(Ok(())) => std::future::pending().await,
        Err(error) => campaign::Error::Refused(format!("the worker failed: {error}")),
    }
}

pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

fn began(args: &Start, campaign: &Campaign) {
    if args.show.quiet {
        return;
    }
    let programs = match &campaign.programs[..] {
        [only] => clean(&only.name),
        several => format!("{} programs", several.len()),
    };
    say!(
        "campaign {}: {programs}, bundle of {} files, {:.1} MB",
        clean(&campaign.name),
        campaign.bundle.files.len(),
        campaign.bundle.bytes() as f64 / 1e6
    );
}

fn finish(args: &Start, outputs: Outputs, account: &Account, ended: Ended) -> Result<u8, Failure> {
    if ended == Ended::Interrupted && !args.show.quiet {
        let name = &account.campaign.name;
        say!("interrupted; `campaign start --resume --name {name}` goes on");
    }
    let code = show::answer(account, &args.show, outputs, None, None)?;
    Ok(match (code, ended) {
        (exit::NOTHING_FOUND, Ended::Interrupted | Ended::Stopped) => exit::LIMIT,
        (code, _) => code,
    })
}

/// The campaign that was asked for, and its bundle.
fn describe(args: &Start) -> Result<(Campaign, Pieces), Failure> {
    let mut packer = Packer::default();
    let programs = match args.simulate {
        Some(_) => vec![Program {
            name: "simulated".into(),
            args: Vec::new(),
            original: Vec::new(),
        }],
        None => programs(args, &mut packer)?,
    };
    let (bundle, pieces) = packer.finish();
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| named_after(&programs[0].name));
    let config = args.launch.config();
    let explores = args.strategies.iter().any(|strategy| strategy == VERIFY);
    if explores && (!config.cut.is_none()) {
        return Err(Failure::usage(engine::verify::WHOLE));
    }
    let campaign = Campaign {
        schema: unit::SCHEMA,
        name,
        tool: engine::tool(),
        started: unit::now(),
        programs,
        launch: Launch {
            include: config.include,
            exclude: config.exclude,
            trusted: config.trusted,
            untracked: config.untracked,
            time_limit_s: config.time_limit.map(|limit| limit.as_secs_f64()),
            stop_after: config.cut.text,
            cut_after_ms: config.cut.millis,
            cut_requests: config.cut.requests,
            max_steps: args.control.max_steps,
            watchdog_s: args.control.watchdog,
            clock: args.control.clock,
        },
        budget: Budget {
            strategies: args.strategies.clone(),
            batch: args.batch,
            trials: args.trials,
            portion: args.portion,
            portions: args.portions.unwrap_or(match args.server.nats {
                Some(_) => PORTIONS,
                None => 2 * args.jobs.unwrap_or_else(cores),
            }),
            seed: args.control.seed,
            units: args.max_units,
            seconds: Some(args.campaign_time.as_secs_f64()),
            even: args.even,
            floor_percent: args.floor,
            lease_s: args.lease.as_secs_f64(),
            simulated_micros: args.simulate,
        },
        bundle,
    };
    Ok((campaign, pieces))
}

fn programs(args: &Start, packer: &mut Packer) -> Result<Vec<Program>, Failure> {
    launch::check(&args.launch.config())?;
    let original: Option<Vec<String>> = { args.launch.program.iter() }
        .map(|arg| arg.to_str().map(str::to_owned))
        .collect();
    let original = original
        .ok_or_else(|| Failure::usage("arguments that are not UTF-8 cannot be sent to workers"))?;
    let (packed, main) = packer.pack(&original).map_err(failure)?;
    let Some(dir) = &args.tests else {
        return Ok(vec![Program {
            name: main.unwrap_or_else(|| "program".to_owned()),
            args: packed,
            original,
        }]);
    };
    if let Some(main) = main {
        return Err(Failure::usage(format!(
            "with --tests the launcher is the main class: leave out {main}, and give only \
             options of java, such as -cp"
        )));
    }
    let tests = suite::tests(dir).map_err(failure)?;
    if tests.is_empty() {
        return Err(Failure::usage(format!(
            "there is no test of JUnit 5 in {}: a directory of class files is wanted",
            dir.display()
        )));
    }
    let program = |test: Test| Program {
        args: test.args(&packed),
        original: test.args(&original),
        name: test.name,
    };
    Ok(tests.into_iter().map(program).collect())
}

/// A name that a server takes: `com.shop.Main` gives `main`, with the time of day.
fn named_after(program: &str) -> String {
    let last = program
        .rsplit(['.', '/', '#'])
        .find(|part| !part.is_empty());
    let plain = last.unwrap_or("campaign").to_lowercase();
    let plain: String = plain
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(30)
        .collect();
    let seconds = unit::now() as u64;
    match plain.is_empty() {
        true => format!("campaign-{seconds}"),
        false => format!("{plain}-{seconds}"),
    }
}

/// How far the campaign is: a line that is replaced on a terminal, a line now and then elsewhere.
struct Lines {
    quiet: bool,
    terminal: bool,
    said: std::time::Instant,
    shown: bool,
}

impl Lines {
    fn new(quiet: bool) -> Lines {
        Lines {
            quiet,
            terminal: std::io::stderr().is_terminal(),
            said: std::time::Instant::now(),
            shown: false,
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            say_on!("\r\x1b[K");
        }
    }
}

impl Watcher for Lines {
    fn progress(&mut self, account: &Account) {
        if self.quiet {
            return;
        }
        let line = show::line(account);
        if self.terminal {
            say_on!("\r\x1b[K{line}");
            self.shown = true;
        } else if self.said.elapsed().as_secs() >= 30 {
            self.said = std::time::Instant::now();
            say!("{line}");
        }
    }

    fn refused(&mut self, error: &campaign::Error) {
        self.clear();
        say!("{}", clean(&error.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaigns_are_named_after_programs() {
        for program in [
            "com.shop.Main",
            "lib/App.jar",
            "Τέστ",
            "com.shop.BankTest#deposit",
            "",
        ] {
            let name = named_after(program);
            assert!(unit::is_name(&name), "{program}: {name}");
        }
        assert!(named_after("com.shop.Main").starts_with("main-"));
    }
}
