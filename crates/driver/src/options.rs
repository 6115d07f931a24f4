//! What the agent is told: `-agentpath:<library>=<key=value,...>`.
//!
//! Values are percent-encoded, so that a directory may have a comma in its
//! name; lists are encoded item by item and joined with `:`. The JVM flags that
//! every run gets stand here too, with their reasons.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Flags given to every JVM, before the user's own, which may override them.
const FLAGS: &[&str] = &[
    // Probes make methods longer; past 8000 bytes HotSpot would interpret them
    // for ever.
    "-XX:-DontCompileHugeMethods",
    // The next flag is a diagnostic one.
    "-XX:+UnlockDiagnosticVMOptions",
];

/// Methods of `java.util` for which the optimising compiler has code of its
/// own: with that, their reads of the program's arrays would vanish once they
/// are hot.
const ARRAY_INTRINSICS: &str = "_copyOf,_copyOfRange,_base64_encodeBlock,_base64_decodeBlock";

/// The same for natives that the agent stands before. They order nothing in
/// happens-before, so FastTrack does not ask for them.
const NOTIFY_INTRINSICS: &str = "_notify,_notifyAll";

/// The flags for a run.
pub fn jvm_flags(mode: Mode) -> Vec<String> {
    let mut off = format!("-XX:DisableIntrinsic={ARRAY_INTRINSICS}");
    if mode != Mode::FastTrack {
        off.push(',');
        off.push_str(NOTIFY_INTRINSICS);
    }
    let flags = FLAGS.iter().map(|flag| flag.to_string());
    flags.chain([off]).collect()
}

/// What the agent does with the events of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    FastTrack,
    Hybrid,
    Lockset,
    H,
    Record,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::FastTrack => "fasttrack",
            Mode::Hybrid => "hybrid",
            Mode::Lockset => "lockset",
            Mode::H => "h",
            Mode::Record => "record",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The run directory; it exists.
    pub out: PathBuf,
    pub mode: Mode,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub trusted: Vec<String>,
    /// Where a recording goes.
    pub trace: Option<PathBuf>,
}

impl AgentOptions {
    /// The JVM argument that loads the agent with these options.
    pub fn argument(&self, library: &Path) -> OsString {
        let mut text = OsString::from("-agentpath:");
        text.push(library);
        text.push(format!(
            "=out={},mode={}",
            encode(self.out.as_os_str()),
            self.mode.name()
        ));
        let lists = [
            ("include", &self.include),
            ("exclude", &self.exclude),
            ("trusted", &self.trusted),
        ];
        for (key, list) in lists {
            if !list.is_empty() {
                let items: Vec<String> = list.iter().map(|i| encode(OsStr::new(i))).collect();
                text.push(format!(",{key}={}", items.join(":")));
            }
        }
        if let Some(trace) = &self.trace {
            text.push(format!(",trace={}", encode(trace.as_os_str())));
        }
        text
    }
}

/// Percent-encodes every byte but those that mean nothing to us, to the JVM's
/// option parser or to a shell.
fn encode(value: &OsStr) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(value.len());
    for &byte in value.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                text.push(char::from(byte));
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut bytes = text.bytes();
        while let Some(b) = bytes.next() {
            if b == b'%' {
                let hex: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&hex, 16).unwrap());
            } else {
                out.push(b);
            }
        }
        out
    }

    #[test]
    fn the_argument_as_the_agent_reads_it() {
        let options = AgentOptions {
            out: "/tmp/a,b=c".into(),
            mode: Mode::Record,
            include: vec!["com.shop.**".into(), "x:y".into()],
            exclude: vec![],
            trusted: vec!["java.util".into()],
            trace: Some("/t 1.pft".into()),
        };
        assert_eq!(
            options.argument(Path::new("/c/agent.so")),
            "-agentpath:/c/agent.so=out=/tmp/a%2Cb%3Dc,mode=record,\
             include=com.shop.%2A%2A:x%3Ay,trusted=java.util,trace=/t%201.pft"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let text = encode(OsStr::from_bytes(&bytes));
            prop_assert!(!text.contains([',', '=', ':', ' ']));
            prop_assert_eq!(decode(&text), bytes);
        }
    }
}
