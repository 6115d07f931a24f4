//! `campaign`: from arguments to a campaign on a server or in this process, and from its results
//! to a report and an exit code.

mod show;
mod start;
mod work;

use crate::args::campaign::{CampaignCommand, Place, Server, Stop};
use crate::exit::{self, Failure};
use crate::say::say;
use anyhow::Context;
use campaign::embedded::Embedded;
use campaign::nats::{self, Connection, Nats};
use campaign::patience::{AWAY, patiently};
use campaign::queue::Queue;
use campaign::unit::State;
use findings::text::clean;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn command(command: &CampaignCommand) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.context("cannot start the threads of a campaign")?;
    let done = runtime.block_on(async {
        match command {
            CampaignCommand::Start(args) => start::command(args).await,
            CampaignCommand::Work(args) => work::command(args).await,
            CampaignCommand::Status(args) => show::status(args).await,
            CampaignCommand::Watch(args) => show::watch(args).await,
            CampaignCommand::Stop(args) => stop(args).await,
            CampaignCommand::Report(args) => show::report(args).await,
        }
    });
    // A program that hangs in a unit must not keep this process.
    runtime.shutdown_background();
    done
}

/// Errors of campaigns with their exit codes.
pub fn failure(error: campaign::Error) -> Failure {
    let code = match &error {
        campaign::Error::Usage(_) | campaign::Error::Unknown(_) => exit::USAGE,
        _ => exit::TOOL_FAILED,
    };
    Failure {
        code,
        error: error.into(),
    }
}

/// The server, if there is one.
async fn server(args: &Server) -> Result<Option<nats::Server>, Failure> {
    match connection(args) {
        Some(connection) => connect(&connection).await.map(Some).map_err(failure),
        None => Ok(None),
    }
}

async fn connect(connection: &Connection) -> Result<nats::Server, campaign::Error> {
    nats::Server::connect(connection, "photofinish").await
}

fn connection(args: &Server) -> Option<Connection> {
    Some(Connection {
        url: args.nats.clone()?,
        user: args.nats_user.clone(),
        password_file: args.nats_password_file.clone(),
        token_file: args.nats_token_file.clone(),
        creds: args.nats_creds.clone(),
        ca: args.nats_ca.clone(),
        cert: args.nats_cert.clone(),
        key: args.nats_key.clone(),
    })
}

/// The same, also if the server is not up yet: whatever starts machines may start it later than us.
async fn server_in_time(args: &Server, quiet: bool) -> Result<Option<nats::Server>, Failure> {
    let Some(connection) = connection(args) else {
        return Ok(None);
    };
    let silent = AtomicBool::new(quiet);
    let connected = patiently(async || {
        let answer = connect(&connection).await;
        if let Err(error @ campaign::Error::Unreachable(_)) = &answer
            && !silent.swap(true, Ordering::Relaxed)
        {
            let seconds = AWAY.as_secs();
            say!("{}; tries again for {seconds} s", clean(&error.to_string()));
        }
        answer
    });
    connected.await.map(Some).map_err(failure)
}

/// A campaign, wherever it is.
enum Opened {
    Here(Embedded),
    There(Box<Nats>),
}

/// Calls a generic function with the queue of an [`Opened`].
macro_rules! with {
    ($opened:expr, $queue:ident => $call:expr) => {
        match $opened {
            Opened::Here($queue) => $call,
            Opened::There($queue) => {
                let $queue = &**$queue;
                $call
            }
        }
    };
}
use with;

impl Place {
    async fn names(&self, server: Option<&nats::Server>) -> Result<Vec<String>, Failure> {
        match server {
            Some(server) => server.names().await.map_err(failure),
            None => Ok(Embedded::names(&self.results)),
        }
    }

    async fn open(&self, server: Option<&nats::Server>, name: &str) -> Result<Opened, Failure> {
        let opened = match server {
            Some(server) => { server.open(name).await }.map(|it| Opened::There(Box::new(it))),
            None => Embedded::open(&self.results, name, false).map(Opened::Here),
        };
        opened.map_err(failure)
    }

    /// The campaign that is meant: the one that is named, or the only one.
    async fn find(&self, name: Option<&str>) -> Result<Opened, Failure> {
        let server = server(&self.server).await?;
        if let Some(name) = name {
            return self.open(server.as_ref(), name).await;
        }
        match &self.names(server.as_ref()).await?[..] {
            [only] => self.open(server.as_ref(), only).await,
            [] => Err(Failure::usage(
                "there is no campaign here; `photofinish campaign start` makes one, and --nats \
                 or --results say where to look",
            )),
            several => Err(Failure::usage(format!(
                "which campaign? There are: {}",
                several.join(", ")
            ))),
        }
    }
}

async fn stop(args: &Stop) -> Result<u8, Failure> {
    let server = server(&args.place.server).await?;
    let opened = args.place.open(server.as_ref(), &args.name).await?;
    with!(&opened, queue => queue.set_state(State::Stopped).await).map_err(failure)?;
    say!("campaign {} is stopped", args.name);
    if args.delete {
        match &server {
            Some(server) => server.delete(&args.name).await.map_err(failure)?,
            None => {
                let dir = args
                    .place
                    .results
                    .join(campaign::embedded::BELOW)
                    .join(&args.name);
                std::fs::remove_dir_all(&dir)
                    .with_context(|| format!("cannot remove {}", dir.display()))?;
            }
        }
        say!("and removed");
    }
    Ok(exit::NOTHING_FOUND)
}
