//! A real `nats-server` with JetStream in files, for tests of campaigns.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A loaded machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why there is none, for tests that cannot run without one.
pub const MISSING: &str = "there is no nats-server; ./test installs one where it can";

/// Where it is, if it is anywhere.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    dirs.map(|dir| dir.join("nats-server"))
        .find(|file| file.is_file())
}

/// A server, ended with this value.
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    dir: PathBuf,
    port: u16,
    more: Vec<String>,
    child: Child,
}

impl NatsServer {
    /// With its files below `dir`, and more arguments (`--auth`, `--tls`).
    pub fn start(dir: &Path, more: &[&str]) -> NatsServer {
        let program = program().expect(MISSING);
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let more: Vec<String> = more.iter().map(|arg| (*arg).to_owned()).collect();
        let child = spawn(&program, dir, port, &more);
        NatsServer {
            program,
            dir: dir.to_owned(),
            port,
            more,
            child,
        }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stopped in the middle of whatever it does: it is there, and does not answer until it is restarted.
    pub fn silence(&self) {
        let pid = self.pid().to_string();
        let stopped = Command::new("kill").args(["-STOP", &pid]).status();
        assert!(stopped.expect("kill runs").success());
        // Each of its threads goes on until it is told.
        let until = Instant::now() + Duration::from_secs(60);
        while !is_stopped(&pid) {
            assert!(Instant::now() < until, "nats-server does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Killed without a word; it can be restarted.
    pub fn stop(&mut self) {
        self.end();
    }

    /// Killed without a word, and started again with the same files.
    pub fn restart(&mut self) {
        self.end();
        self.child = spawn(&self.program, &self.dir, self.port, &self.more);
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(program: &Path, dir: &Path, port: u16, more: &[String]) -> Child {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(dir.join("nats.log"));
    let mut child = Command::new(program)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(dir.join("nats"))
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.unwrap())
        .spawn()
        .expect("nats-server runs");
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let said = || std::fs::read_to_string(dir.join("nats.log")).unwrap_or_default();
        assert!(
            child.try_wait().unwrap().is_none(),
            "nats-server ended: {}",
            said()
        );
        assert!(
            Instant::now() < until,
            "nats-server does not listen: {}",
            said()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Whether all threads of a process are stopped: the state stands behind the name, which is in brackets.
fn is_stopped(pid: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" T"))
    })
}
