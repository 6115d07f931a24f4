//! What the coordinator of a campaign can carry, over a real `nats-server` with its files on disk: results a
//! second and memory with many workers, whose units compute nothing; and what the queue costs a unit
//! that takes a second.

use crate::compare::Tool;
use crate::measure::{self, Measured};
use anyhow::{Context, Result, ensure};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Workers, in so many processes, and their units.
const WORKERS: u32 = 1_000;
const PROCESSES: u32 = 4;
const UNITS: u64 = 1_000_000;
const QUICK: (u32, u64) = (40, 2_000);

/// Units of a second: the cost of one is what the larger number takes longer than the smaller one, without
/// the work itself.
const FEW: u64 = 4;
const SECONDS: u64 = 124;
const QUICK_SECONDS: u64 = 8;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(4 * 3600);

#[derive(Debug)]
pub struct Carried {
    pub workers: u32,
    pub units: u64,
    /// Of the coordinator.
    pub wall: Duration,
    pub cpu: Duration,
    pub peak: u64,
    /// Of the server.
    pub server_peak: u64,
    /// What the queue adds to a unit of a second.
    pub added: Duration,
}

/// With so many units, unless told otherwise.
pub fn measure(tool: &Tool, work: &Path, units: Option<u64>, quick: bool) -> Result<Carried> {
    let program = server()?;
    let (workers, most) = match quick {
        true => QUICK,
        false => (WORKERS, UNITS),
    };
    let units = units.unwrap_or(most);
    let started = Server::start(&program, &work.join("carried"))?;
    let (carried, _) = campaign(tool, &started, (workers, PROCESSES), units, 0)?;
    let server_peak = started.peak()?;
    drop(started);
    // What the worker itself took, which is more than a second on a busy machine, is no cost of the queue.
    let around = |units: u64| -> Result<Duration> {
        let started = Server::start(&program, &work.join(format!("second-{units}")))?;
        let (done, worked) = campaign(tool, &started, (1, 1), units, 1_000_000)?;
        Ok(done.wall.saturating_sub(worked))
    };
    let seconds = if quick { QUICK_SECONDS } else { SECONDS };
    let (few, many) = (around(FEW)?, around(seconds)?);
    let added = many.saturating_sub(few) / (seconds - FEW) as u32;
    Ok(Carried {
        workers,
        units,
        wall: carried.wall,
        cpu: carried.cpu,
        peak: carried.peak,
        server_peak,
        added,
    })
}

/// A campaign of simulated units; what its coordinator took, and how long workers worked.
fn campaign(
    tool: &Tool,
    server: &Server,
    (workers, processes): (u32, u32),
    units: u64,
    micros: u64,
) -> Result<(Measured, Duration)> {
    let command = |name: &str| {
        let mut command = Command::new(&tool.photofinish);
        command.args(["campaign", name, "--nats", &server.url]);
        command
    };
    let each = (workers / processes).to_string();
    let worker = || {
        let mut worker = command("work");
        worker.args(["--jobs", "1", "--quiet", "--simulated-workers", &each]);
        worker.arg("--java").arg(&tool.java);
        worker.stdin(Stdio::null()).stdout(Stdio::null());
        worker.spawn().context("cannot start a worker").map(Running)
    };
    let mut start = command("start");
    start.args(["--name", "bench", "--campaign-time", "24h"]);
    start.args(["--simulate", &micros.to_string()]);
    start.args(["--max-units", &units.to_string()]);
    let working: Result<Vec<Running>> = (0..processes).map(|_| worker()).collect();
    let working = working?;
    let done = measure::run(start, LIMIT)?;
    drop(working);
    let said = String::from_utf8_lossy(&done.stderr);
    // Nothing but suspicions is found.
    ensure!(
        done.status.code() == Some(0) && !done.stopped,
        "the campaign did not end well: {said}"
    );
    let status = measure::run(
        {
            let mut status = command("status");
            status.arg("--json");
            status
        },
        LIMIT,
    )?;
    let status: serde_json::Value = serde_json::from_slice(&status.stdout)?;
    let counts = &status[0]["units"];
    ensure!(
        counts["done"] == units && counts["stored"] == units,
        "not every unit has one result: {counts}"
    );
    let worked = status[0]["seconds"].as_f64();
    let worked = worked.context("the status does not say how long workers worked")?;
    Ok((done, Duration::from_secs_f64(worked)))
}

/// A process that is ended with this value.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
struct Server {
    running: Running,
    url: String,
}

/// Where the server's program is.
fn server() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    dirs.map(|dir| dir.join("nats-server"))
        .find(|file| file.is_file())
        .context("there is no nats-server: install it (Debian: nats-server)")
}

impl Server {
    fn start(program: &Path, dir: &Path) -> Result<Server> {
        std::fs::create_dir_all(dir)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = std::fs::File::create(dir.join("log"))?;
        let child = Command::new(program)
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
            .arg(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("cannot start nats-server")?;
        let server = Server {
            running: Running(child),
            url: format!("nats://127.0.0.1:{port}"),
        };
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(Instant::now() < until, "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Its peak of memory up to now, in bytes.
    fn peak(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.running.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        Ok(1024 * kilobytes.context("the kernel does not say what memory nats-server took")?)
    }
}
