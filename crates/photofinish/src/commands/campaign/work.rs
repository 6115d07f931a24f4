//! `campaign work`: this machine works on the campaigns of a server.

use super::start::cores;
use super::{failure, server_in_time};
use crate::args::campaign::Work;
use crate::exit::{self, Failure};
use crate::say::say;
use anyhow::Context;
use campaign::execute::Machine;
use campaign::nats;
use campaign::unit::State;
use campaign::worker::{self, Bundles, Tell, Worker};
use driver::interrupt::StopRequest;
use driver::java::Java;
use findings::text::clean;
use std::sync::Arc;
use std::time::Duration;

/// How often a worker looks for a campaign.
const LOOK: Duration = Duration::from_secs(1);

pub async fn command(args: &Work) -> Result<u8, Failure> {
    let Some(server) = server_in_time(&args.server, args.quiet).await? else {
        return Err(Failure::usage(
            "campaign work needs --nats; without a server `campaign start` works itself",
        ));
    };
    // Whoever has no Java would only give units back.
    Java::find(args.java.as_deref()).map_err(engine::Error::from)?;
    driver::process::close_input().context("cannot open /dev/null")?;
    let request = StopRequest::catch().context("cannot listen for signals")?;
    let stop = request.flag();
    let jobs = args.jobs.unwrap_or_else(cores);
    let quiet = args.quiet;
    let machine = Machine {
        java: args.java.clone(),
        worker: worker::name(),
    };
    let tell: Tell = Arc::new(|line: &str| say!("{}", clean(line)));
    let bundles = Arc::new(Bundles::new().map_err(failure)?);
    if !quiet {
        say!("worker {}: {jobs} units side by side", machine.worker);
    }
    let mut total = 0;
    while !request.is_requested() {
        let found = running(&server, args.name.as_deref()).await;
        let name = match found {
            Ok(Some(name)) => name,
            Ok(None) if args.until_idle => break,
            Ok(None) => {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            Err(error) => {
                tell(&error.to_string());
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        let queue = match server.open(&name).await {
            Ok(queue) => Arc::new(queue),
            Err(error) => {
                tell(&error.to_string());
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        if !quiet {
            say!("works on campaign {name}");
        }
        let worker = |number: u32| {
            let machine = match number {
                0 => machine.clone(),
                _ => Machine {
                    worker: format!("{}-{number}", machine.worker),
                    ..machine.clone()
                },
            };
            Worker::new(
                queue.clone(),
                machine,
                bundles.clone(),
                stop.clone(),
                jobs,
                tell.clone(),
            )
        };
        let workers: Vec<_> = (0..args.simulated_workers).map(worker).collect();
        let running: Vec<_> = { workers.iter().cloned() }
            .map(|worker| tokio::spawn(async move { worker.run().await }))
            .collect();
        let mut failed = false;
        for worker in running {
            if let Ok(Err(error)) = worker.await {
                tell(&error.to_string());
                failed = true;
            }
        }
        if failed {
            tokio::time::sleep(LOOK).await;
        }
        total += workers.iter().map(Worker::units).sum::<u64>();
    }
    bundles.clear();
    if !quiet {
        say!("worker {} ends after {total} units", machine.worker);
    }
    Ok(exit::NOTHING_FOUND)
}

/// A campaign that is running, another one each time if there are several.
async fn running(
    server: &nats::Server,
    only: Option<&str>,
) -> Result<Option<String>, campaign::Error> {
    let mut running = Vec::new();
    for name in server.names().await? {
        let wanted = only.is_none_or(|only| only == name);
        if wanted && server.state(&name).await? == State::Running {
            running.push(name);
        }
    }
    let number = campaign::unit::now() as usize;
    Ok((!running.is_empty()).then(|| running.swap_remove(number % running.len())))
}
