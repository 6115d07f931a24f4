//! Requests that a server answers, counted without knowing its protocol.
//!
//! One request: on a connection that the program has accepted it reads, and then writes. Further
//! writes belong to the same answer until it reads from that connection again. So a request in
//! many pieces is one, and so is an answer in many pieces; ten requests over one connection
//! are ten if the client waits for each answer. Requests that a client sends without waiting
//! may be fewer, and a TLS handshake is one or two more.

use std::collections::HashMap;
use std::sync::Mutex;

/// The connections that the program has accepted, by the number of their file.
#[derive(Debug, Default)]
pub struct Exchanges {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether something was read that has no answer yet. As many as the process has had files
    /// open at once, at most.
    asked: HashMap<i32, bool>,
    answered: u64,
}

impl Exchanges {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn accepted(&self, file: i32) {
        self.lock().asked.insert(file, false);
    }

    /// The number is that of a socket of the program's own making now.
    pub fn opened(&self, file: i32) {
        self.lock().asked.remove(&file);
    }

    pub fn read(&self, file: i32) {
        if let Some(asked) = self.lock().asked.get_mut(&file) {
            *asked = true;
        }
    }

    /// How many answers have begun, if one begins here.
    pub fn written(&self, file: i32) -> Option<u64> {
        let mut state = self.lock();
        let asked = state.asked.get_mut(&file)?;
        if !std::mem::take(asked) {
            return None;
        }
        state.answered += 1;
        Some(state.answered)
    }

    pub fn answered(&self) -> u64 {
        self.lock().answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_what_was_read_is_a_request() {
        let seen = Exchanges::default();
        seen.accepted(5);
        assert_eq!(seen.written(5), None, "a greeting answers nothing");
        seen.read(5);
        seen.read(5);
        assert_eq!(seen.written(5), Some(1));
        assert_eq!(seen.written(5), None, "the rest of the answer");
        seen.read(5);
        assert_eq!(seen.written(5), Some(2), "the same connection");
        seen.accepted(6);
        seen.read(6);
        assert_eq!(seen.written(6), Some(3));
        assert_eq!(seen.answered(), 3);
    }

    #[test]
    fn what_the_program_asks_others_is_none() {
        let seen = Exchanges::default();
        seen.opened(7);
        seen.read(7);
        assert_eq!(seen.written(7), None);
        seen.accepted(7);
        seen.opened(7);
        seen.read(7);
        assert_eq!(seen.written(7), None, "the number was used again");
        seen.accepted(7);
        seen.read(7);
        seen.accepted(7);
        assert_eq!(seen.written(7), None, "another connection");
    }
}
