//! What the driver asked for: `key=value,...`, values percent-encoded
//! (crates/driver/src/options.rs writes them).

use crate::control::Settings;
use instrument::FieldPattern;
use instrument::repair::Repair;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    FastTrack,
    Hybrid,
    Lockset,
    H,
    Record,
    /// The same with the control flow, for prediction.
    Full,
    /// Nothing is detected: the run is controlled, and that is all.
    Bare,
}

impl Mode {
    /// Whether accesses become events instead of being checked on the spot.
    pub fn events(self) -> bool {
        !matches!(self, Mode::FastTrack | Mode::Bare)
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::FastTrack => "fasttrack",
            Mode::Hybrid => "hybrid",
            Mode::Lockset => "lockset",
            Mode::H => "h",
            Mode::Record => "record",
            Mode::Full => "full",
            Mode::Bare => "none",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    pub out: PathBuf,
    pub mode: Mode,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked.
    pub untracked: Vec<FieldPattern>,
    /// Also accesses that cannot race, see `instrument::Policy`.
    pub check_unshared: bool,
    pub trace: Option<PathBuf>,
    /// Changes of the program that are tried.
    pub repairs: Vec<Repair>,
    /// How threads are scheduled, if not by the system.
    pub control: Settings,
}

impl Options {
    pub fn parse(text: &str) -> Result<Options, String> {
        let mut options = Options {
            out: PathBuf::new(),
            mode: Mode::FastTrack,
            include: vec![],
            exclude: vec![],
            trusted: vec![],
            untracked: vec![],
            check_unshared: false,
            trace: None,
            repairs: vec![],
            control: Settings::default(),
        };
        for part in text.split(',').filter(|p| !p.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("option `{part}` has no value"))?;
            let list = || value.split(':').map(decode).collect::<Vec<_>>();
            match key {
                "out" => options.out = decode(value).into(),
                "trace" => options.trace = Some(decode(value).into()),
                "include" => options.include = list(),
                "exclude" => options.exclude = list(),
                "trusted" => options.trusted = list(),
                "untracked" => {
                    let fields = list().iter().map(|f| FieldPattern::new(f)).collect();
                    let fields: Option<Vec<_>> = fields;
                    options.untracked = fields.ok_or("a field is named as Class.field")?;
                }
                "unshared" if value == "check" => options.check_unshared = true,
                "repair" => {
                    options.repairs = list().iter().map(|r| r.parse()).collect::<Result<_, _>>()?;
                }
                "mode" => {
                    let all = [
                        Mode::FastTrack,
                        Mode::Hybrid,
                        Mode::Lockset,
                        Mode::H,
                        Mode::Record,
                        Mode::Full,
                        Mode::Bare,
                    ];
                    options.mode = all
                        .into_iter()
                        .find(|m| m.name() == value)
                        .ok_or_else(|| format!("unknown mode `{value}`"))?;
                }
                _ if options.control.option(key, value, decode)? => {}
                _ => return Err(format!("unknown option `{key}`")),
            }
        }
        if options.out.as_os_str().is_empty() {
            return Err("no run directory (out=...)".into());
        }
        if matches!(options.mode, Mode::Record | Mode::Full) && options.trace.is_none() {
            return Err("recording needs trace=FILE".into());
        }
        Ok(options)
    }
}

/// Undoes percent-encoding; anything malformed stays as it is.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes
            .get(i + 1..i + 3)
            .and_then(|h| std::str::from_utf8(h).ok())
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                i += 3;
            }
            (byte, _) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
