//! `campaign` and its commands.

use super::{Control, Launch, Show, registry, values};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// Start a campaign, and coordinate it until its budget is spent
    ///
    /// The program (class path, jars) goes to the workers with it. Without --nats this process
    /// does the work itself. What still finds something gets more of the time; every program and
    /// strategy gets a share.
    Start(Box<Start>),
    /// Work on the campaigns of a server, on any machine
    Work(Work),
    /// Say how far campaigns are
    Status(Status),
    /// Serve a live page of a campaign
    Watch(Watch),
    /// Stop a campaign; its results stay
    Stop(Stop),
    /// Show the findings of a campaign, also of one that is still running
    Report(CampaignReport),
}

/// The server that carries campaigns, and how to be let in. Secrets come from files, or from
/// PHOTOFINISH_NATS_PASSWORD and PHOTOFINISH_NATS_TOKEN.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct Server {
    /// A NATS server with JetStream: `nats://host:4222`, `tls://host`, several with commas
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// The user, if the server knows users [or PHOTOFINISH_NATS_USER]
    #[arg(long, value_name = "NAME", requires = "nats")]
    pub nats_user: Option<String>,
    /// File with the user's password
    #[arg(long, value_name = "FILE", requires = "nats")]
    pub nats_password_file: Option<PathBuf>,
    /// File with a token
    #[arg(long, value_name = "FILE", requires = "nats", conflicts_with_all = ["nats_user", "nats_password_file"])]
    pub nats_token_file: Option<PathBuf>,
    /// Credentials file of a NATS account
    #[arg(long, value_name = "FILE", requires = "nats")]
    pub nats_creds: Option<PathBuf>,
    /// Certificates that the server's is signed with, besides those of the system
    #[arg(long, value_name = "FILE", requires = "nats")]
    pub nats_ca: Option<PathBuf>,
    /// Our own certificate
    #[arg(long, value_name = "FILE", requires_all = ["nats", "nats_key"])]
    pub nats_cert: Option<PathBuf>,
    /// The key of our certificate
    #[arg(long, value_name = "FILE", requires_all = ["nats", "nats_cert"])]
    pub nats_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Start {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    #[command(flatten)]
    pub server: Server,
    /// The campaign's name: small letters, digits, - and _ [default: from the program]
    #[arg(long, value_name = "NAME", value_parser = campaign_name)]
    pub name: Option<String>,
    /// Go on with the campaign of this name, whose program is known. If there is none and a program
    /// is given, start it
    #[arg(long, requires = "name")]
    pub resume: bool,
    /// Each test of this class directory as a program of its own (JUnit 5; the class path
    /// after `--` has the tests and junit-platform-console-standalone)
    #[arg(long, value_name = "DIR", value_parser = values::directory)]
    pub tests: Option<PathBuf>,
    /// What to try on each program: schedulers, `hybrid` for free runs that look for pairs, `verify` for all schedules
    #[arg(long, value_name = "STRATEGY", value_delimiter = ',', value_parser = registry::strategy(), default_value = "native,hybrid,random,pct,pos")]
    pub strategies: Vec<String>,
    /// Begin no work after this long: `90s`, `2h`
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "5m")]
    pub campaign_time: Duration,
    /// End after so many units of work
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_units: Option<u64>,
    /// Runs in a unit of work
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: u32,
    /// Executions in a unit of work of verify
    #[arg(long, value_name = "N", default_value = "2000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub portion: u32,
    /// Units of work of verify at a time, for each program [default: 16 with --nats, otherwise twice --jobs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub portions: Option<u32>,
    /// Trials of a suspected pair in a unit of work; 0: do not try pairs
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub trials: u32,
    /// Give everything the same share
    #[arg(long)]
    pub even: bool,
    /// Percent of the work that is divided evenly in any case
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub floor: u32,
    /// A unit whose worker is silent for this long is given out again
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "30s")]
    pub lease: Duration,
    /// Publish the campaign and some work, and do not wait: `campaign start --resume`
    /// coordinates it
    #[arg(long, requires = "nats")]
    pub detach: bool,
    /// Without --nats: units side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub control: Control,
    /// Units that do nothing for so many microseconds, to test the queue
    #[arg(long, value_name = "MICROS", hide = true)]
    pub simulate: Option<u64>,
}

#[derive(Debug, Args)]
pub struct Work {
    #[command(flatten)]
    pub server: Server,
    /// Units side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Only this campaign [default: all of the server's]
    #[arg(long, value_name = "NAME", value_parser = campaign_name)]
    pub name: Option<String>,
    /// End when no campaign is running
    #[arg(long)]
    pub until_idle: bool,
    /// The java launcher or JDK directory [default: JAVA_HOME, then PATH]
    #[arg(long, value_name = "PATH")]
    pub java: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// So many workers in this process, to see what a coordinator can carry
    #[arg(long, value_name = "N", hide = true, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub simulated_workers: u32,
}

/// Where campaigns without a server are kept.
#[derive(Clone, Debug, Args)]
pub struct Place {
    #[command(flatten)]
    pub server: Server,
    /// Without --nats: where results are kept
    #[arg(long, value_name = "DIR", default_value = driver::store::DEFAULT)]
    pub results: PathBuf,
}

#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub place: Place,
    /// Only this campaign
    #[arg(value_name = "NAME", value_parser = campaign_name)]
    pub name: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    pub place: Place,
    /// The campaign [default: the only one]
    #[arg(value_name = "NAME", value_parser = campaign_name)]
    pub name: Option<String>,
    /// Where to listen; port 0 takes any that is free. Who can reach the address can read the page
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7171")]
    pub listen: std::net::SocketAddr,
}

#[derive(Debug, Args)]
pub struct Stop {
    #[command(flatten)]
    pub place: Place,
    #[arg(value_name = "NAME", value_parser = campaign_name)]
    pub name: String,
    /// Also remove it, with its results
    #[arg(long)]
    pub delete: bool,
}

#[derive(Debug, Args)]
pub struct CampaignReport {
    #[command(flatten)]
    pub show: Show,
    #[command(flatten)]
    pub place: Place,
    /// The campaign [default: the only one]
    #[arg(value_name = "NAME", value_parser = campaign_name)]
    pub name: Option<String>,
    /// Only this program of several, by its name
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
    /// Keep the result in this directory, with the schedules to replay
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

fn campaign_name(text: &str) -> Result<String, String> {
    match campaign::unit::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("write small letters, digits, - and _, at most 64".to_owned()),
    }
}
