//! A program's output as it passes: copied on, digested, its beginning kept,
//! and counted as a sign of life.

use crate::process::Output;
use findings::fingerprint::hex;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

/// More than a reader wants; a program may print for ever.
const MOST_KEPT: usize = 256 << 10;

#[derive(Debug, Default)]
pub(crate) struct Tap {
    bytes: AtomicU64,
    /// What comes from now on is not the program's: keep it, pass nothing on.
    diverted: AtomicBool,
    kept: Mutex<Vec<u8>>,
}

impl Tap {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn kept(&self) -> Vec<u8> {
        self.lock().clone()
    }

    /// From now on everything is kept here; how much was kept before.
    pub(crate) fn divert(&self) -> usize {
        self.diverted.store(true, Ordering::Relaxed);
        self.lock().len()
    }

    fn keep(&self, bytes: &[u8], limit: usize) {
        let mut kept = self.lock();
        let room = limit.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(room));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Copies until the pipe ends, then sends the digest. When our side can no
/// longer be written to, the pipe is closed: the program then sees what it
/// would have seen without us.
pub(crate) fn tap(
    mut pipe: impl Read + Send + 'static,
    output: Output,
) -> (Arc<Tap>, Receiver<String>) {
    let (sender, receiver) = channel();
    let tap = Arc::new(Tap::default());
    let shared = tap.clone();
    std::thread::spawn(move || {
        let mut hash = Sha256::new();
        let mut buffer = vec![0u8; 64 * 1024];
        loop {
            let got = match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => buffer.get(..n).unwrap_or_default(),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            shared.bytes.fetch_add(got.len() as u64, Ordering::Relaxed);
            if shared.diverted.load(Ordering::Relaxed) {
                // A dump must not fall victim to much output before it.
                shared.keep(got, 2 * MOST_KEPT);
                continue;
            }
            hash.update(got);
            let written = match output {
                Output::Capture => {
                    shared.keep(got, MOST_KEPT);
                    Ok(())
                }
                Output::ToStderr => std::io::stderr().write_all(got),
                Output::Digest | Output::Inherit => {
                    let mut out = std::io::stdout().lock();
                    out.write_all(got).and_then(|()| out.flush())
                }
            };
            if written.is_err() {
                return;
            }
        }
        let _ = sender.send(hex(&hash.finalize()));
    });
    (tap, receiver)
}
