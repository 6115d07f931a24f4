//! What a coordinator can carry: simulated workers on a real NATS server, and the coordinator as
//! a process of its own, whose memory is read at the end.
//!
//! ```text
//! cargo run --release -p photofinish-campaign --example load -- target/release/photofinish 1000 1000000
//! ```

use campaign::execute::{Machine, execute};
use campaign::nats::{Connection, Nats, Server};
use campaign::patience::patiently;
use campaign::queue::Queue;
use campaign::unit::{self, State, Unit, WorkerStatus};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use test_support::nats::NatsServer;

/// Workers that share a connection.
const SHARED: usize = 50;

/// Takes, answers, acknowledges, until the campaign is over. The units it has done, and the
/// seconds that it waited for a unit.
async fn work(queue: Arc<Nats>, name: String) -> u64 {
    let machine = Machine {
        java: None,
        worker: name.clone(),
    };
    let (mut units, mut said) = (0, None::<Instant>);
    loop {
        if said.is_none_or(|said| said.elapsed() > Duration::from_secs(10)) {
            said = Some(Instant::now());
            let status = WorkerStatus {
                name: name.clone(),
                jobs: 1,
                units,
                at: unit::now(),
                ..WorkerStatus::default()
            };
            let _ = queue.tell(&status).await;
        }
        let taken = patiently(|| queue.take(Duration::from_secs(5))).await;
        let Some(taken) = taken.expect("the server answers") else {
            match queue.state().await {
                Ok(State::Running) | Err(_) => continue,
                Ok(_) => return units,
            }
        };
        let unit: Unit = unit::decode(&taken.bytes).expect("it is a unit");
        let outcome = execute(&unit, queue.campaign(), Path::new("/"), &machine);
        patiently(|| queue.store(&outcome))
            .await
            .expect("it is stored");
        patiently(|| queue.finish(&taken.lease))
            .await
            .expect("it is finished");
        units += 1;
    }
}

/// A line of /proc/PID/status, in MB.
fn megabytes(pid: u32, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let found = status.lines().find_map(|l| l.strip_prefix(line));
    let kilobytes = found.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Processor seconds that a process has used.
fn processor(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: Vec<f64> = { rest.split(' ').skip(11).take(2) }
        .filter_map(|t| t.parse().ok())
        .collect();
    ticks.iter().sum::<f64>() / 100.0
}

fn main() {
    let mut args = std::env::args().skip(1);
    let tool = args.next().expect("the path of photofinish");
    let mut number = |default| {
        args.next()
            .map_or(default, |n| n.parse().expect("a number"))
    };
    let (workers, units) = (number(1_000) as usize, number(1_000_000));
    let dir = tempfile::tempdir().expect("a directory");
    let server = NatsServer::start(dir.path(), &[]);
    let start = [
        "campaign",
        "start",
        "--quiet",
        "--nats",
        &server.url(),
        "--name",
        "load",
    ];
    let mut coordinator = Command::new(tool)
        .args(start)
        .args([
            "--simulate",
            "0",
            "--campaign-time",
            "24h",
            "--max-units",
            &units.to_string(),
        ])
        .stdin(Stdio::null())
        .spawn()
        .expect("photofinish runs");
    let pid = coordinator.id();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let began = Instant::now();
    let watch = std::thread::spawn(move || {
        let (mut peak, mut used) = (0.0, 0.0);
        while Path::new(&format!("/proc/{pid}/stat")).exists() {
            let now = megabytes(pid, "VmHWM:");
            if now == 0.0 {
                break;
            }
            (peak, used) = (now, processor(pid));
            std::thread::sleep(Duration::from_millis(100));
        }
        (peak, used)
    });
    let done: u64 = runtime.expect("a runtime").block_on(async {
        let mut running = Vec::new();
        for group in 0..workers.div_ceil(SHARED) {
            let connection = Connection::new(server.url());
            let there = Server::connect(&connection, "load")
                .await
                .expect("the server answers");
            let queue = loop {
                match there.open("load").await {
                    Ok(queue) => break Arc::new(queue),
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            };
            for at in (group * SHARED..workers).take(SHARED) {
                running.push(tokio::spawn(work(queue.clone(), format!("w{at}"))));
            }
        }
        let mut done = 0;
        for worker in running {
            done += worker.await.expect("a worker ends well");
        }
        done
    });
    let ended = coordinator.wait().expect("the coordinator ends");
    let seconds = began.elapsed().as_secs_f64();
    let (peak, used) = watch.join().expect("somebody watched");
    assert_eq!(done, units, "each unit was done once");
    println!(
        "{workers} workers, {units} results in {seconds:.0} s: {:.0} a second; coordinator: {peak:.0} MB at most, \
         {:.0} µs of processor time a result; nats-server: {:.0} MB, {:.0} µs a result; this process, the \
         workers' side of the queue: {:.0} µs a unit; {ended}",
        units as f64 / seconds,
        used / units as f64 * 1e6,
        megabytes(server.pid(), "VmHWM:"),
        processor(server.pid()) / units as f64 * 1e6,
        processor(std::process::id()) / units as f64 * 1e6,
    );
}
