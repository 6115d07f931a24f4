//! A thread that repeats, at intervals, what is being done: for logs, where no line is replaced.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Ends with this value; nothing is said after that.
#[derive(Debug)]
pub struct Heartbeat {
    doing: Arc<Mutex<Option<String>>>,
    /// Closed to end the thread.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// `say` gets what is being done, if anything is. Without a thread nothing is said.
    pub fn start(every: Duration, say: impl Fn(&str) + Send + 'static) -> Heartbeat {
        let doing: Arc<Mutex<Option<String>>> = Arc::default();
        let (alive, ended) = channel::<()>();
        let shared = doing.clone();
        let beat = move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let text = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(text) = &*text {
                    say(text);
                }
            }
        };
        let thread = std::thread::Builder::new().name("heartbeat".to_owned());
        Heartbeat {
            doing,
            alive: Some(alive),
            thread: thread.spawn(beat).ok(),
        }
    }

    pub fn set(&self, text: Option<String>) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_done_is_repeated_until_it_is_over() {
        let (says, said) = channel();
        let beat = Heartbeat::start(Duration::from_millis(1), move |text| {
            let _ = says.send(text.to_owned());
        });
        beat.set(Some("trial 1 of 2".to_owned()));
        assert_eq!(said.recv().unwrap(), "trial 1 of 2");
        assert_eq!(said.recv().unwrap(), "trial 1 of 2");
        beat.set(Some("trial 2 of 2".to_owned()));
        assert!(said.iter().any(|text| text == "trial 2 of 2"));
        beat.set(None);
        while said.try_recv().is_ok() {}
        drop(beat);
        assert!(said.recv().is_err(), "the thread has ended");
    }
}
