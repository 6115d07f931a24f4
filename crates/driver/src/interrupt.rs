//! Ctrl-C, `kill` and a closed terminal as messages in a channel, so that they
//! can be awaited together with the end of the program.

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a run waits for.
#[derive(Debug)]
pub(crate) enum Message {
    Signal(i32),
    /// Process number, so that a late message of an earlier run is told apart.
    Exited(u32, std::io::Result<ExitStatus>),
    /// What a worker answered.
    Answer(u32, Box<protocol::execution::Answer>),
}

/// Once this is made, the signals named above no longer end this process: they
/// stop the program, and what it found so far is reported. Make one per
/// command and use it for all its runs.
#[derive(Debug)]
pub struct Interrupts {
    pub(crate) sender: Sender<Message>,
    pub(crate) receiver: Receiver<Message>,
    handle: Handle,
    requested: Arc<AtomicBool>,
}

impl Interrupts {
    pub fn catch() -> std::io::Result<Interrupts> {
        let (sender, receiver) = channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let to = sender.clone();
        let requested = Arc::new(AtomicBool::new(false));
        let seen = requested.clone();
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in signals.forever() {
                    seen.store(true, Ordering::Relaxed);
                    if to.send(Message::Signal(signal)).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Interrupts {
            sender,
            receiver,
            handle,
            requested,
        })
    }

    /// Whether a signal has come, for work that waits for no program.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }
}

/// For work that starts no program: the first of the signals asks it to stop, the second
/// ends the process as if nobody had caught it.
#[derive(Debug)]
pub struct StopRequest {
    requested: Arc<AtomicBool>,
    actions: Vec<SigId>,
}

impl StopRequest {
    pub fn catch() -> std::io::Result<StopRequest> {
        let mut request = StopRequest {
            requested: Arc::new(AtomicBool::new(false)),
            actions: Vec::new(),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let asked = &request.requested;
            // In this order, so that the first signal does not end the process itself.
            let second = flag::register_conditional_default(signal, asked.clone())?;
            let first = flag::register(signal, asked.clone())?;
            request.actions.extend([second, first]);
        }
        Ok(request)
    }

    /// Set by the signal itself, before anybody else hears of it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.requested.clone()
    }

    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }
}

impl Drop for StopRequest {
    fn drop(&mut self) {
        for action in self.actions.drain(..) {
            signal_hook::low_level::unregister(action);
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.handle.close();
    }
}
