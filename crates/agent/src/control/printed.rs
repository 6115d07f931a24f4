//! What an execution prints in a worker: it is kept here instead of being written, as
//! the driver would have kept it.

use crate::jni::{Jni, Ref};
use protocol::execution::Seeded;
use sha2::{Digest, Sha256};
use std::time::Instant;

/// As much as the driver keeps.
const MOST_KEPT: usize = 256 << 10;

#[derive(Debug)]
pub struct Printed {
    digest: Sha256,
    /// How standard output and standard error begin.
    kept: [Vec<u8>; 2],
    began: Instant,
}

impl Default for Printed {
    fn default() -> Printed {
        Printed {
            digest: Sha256::new(),
            kept: [Vec::new(), Vec::new()],
            began: Instant::now(),
        }
    }
}

impl Printed {
    /// False if the file is neither of the two.
    pub fn add(&mut self, file: i32, bytes: &[u8]) -> bool {
        let kept = match file {
            1 => {
                self.digest.update(bytes);
                &mut self.kept[0]
            }
            2 => &mut self.kept[1],
            _ => return false,
        };
        let room = MOST_KEPT.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(room));
        true
    }

    /// For the answer, in which other members are to be filled in.
    pub fn told(self) -> Seeded {
        let digest = self.digest.finalize();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let [stdout, stderr] = self.kept.each_ref().map(|kept| text(kept));
        Seeded {
            control: Default::default(),
            exit: 0,
            output_sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            stdout,
            stderr,
            micros: self.began.elapsed().as_micros() as u64,
        }
    }
}

impl super::Control {
    /// Something was read from a stream: what standard input had, the next execution does
    /// not get.
    pub fn has_read(&self, jni: Jni, stream: Ref) {
        if let Some(worker) = &self.worker
            && jni.file_number(stream) == Some(0)
        {
            worker.complain("it reads its standard input");
        }
    }

    /// Bytes of an array go to a stream; whether they were kept instead.
    pub fn keep_printed(
        &self,
        jni: Jni,
        stream: Ref,
        bytes: impl FnOnce() -> Option<Vec<u8>>,
    ) -> bool {
        let Some(worker) = &self.worker else {
            return false;
        };
        let file = jni.file_number(stream);
        let Some(file) = file.filter(|n| (1..=2).contains(n)) else {
            return false;
        };
        bytes().is_some_and(|bytes| worker.print(file, &bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_and_digested() {
        let mut printed = Printed::default();
        assert!(printed.add(1, b"ab") && printed.add(2, b"err") && printed.add(1, b"c"));
        assert!(!printed.add(3, b"a file"));
        let told = printed.told();
        assert_eq!((&*told.stdout, &*told.stderr), ("abc", "err"));
        assert!(told.output_sha256.starts_with("ba7816bf8f01cfea"));
    }
}
