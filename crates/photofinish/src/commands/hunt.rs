//! `hunt`: the whole report, and a summary.

use super::hunt_summary;
use crate::args::Hunt;
use crate::exit::Failure;
use crate::outputs::Outputs;
use crate::progress::Terminal;
use crate::show;
use anyhow::Context;
use driver::scratch::Scratch;
use engine::launch;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn command(args: &Hunt) -> Result<u8, Failure> {
    args.config(None, Default::default()).check()?;
    let known = show::suppressions(&args.show)?;
    launch::check(&args.launch.config())?;
    let outputs = Outputs::open(&args.show)?;
    let input = Given::new(args.input.as_deref())?;
    let config = args.config(input.path.clone(), known);
    let progress = Terminal::new(args.show.quiet, args.show.verbose);
    let hunted = engine::hunt::hunt(&config, &progress)?;
    progress.clear();
    let kept = outputs.kept(&args.control.results, None);
    let program = &args.launch.program;
    let code = show::answer(&hunted.answer, &args.show, outputs, program, &kept)?;
    if !args.show.quiet {
        let text = hunt_summary::text(&hunted);
        // A user who closed standard error does not want this either.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    Ok(code)
}

/// What the program reads.
struct Given {
    path: Option<PathBuf>,
    /// Gone with this value.
    _kept: Option<Scratch>,
}

impl Given {
    /// Standard input is kept in a file: every run begins to read it anew.
    fn new(file: Option<&Path>) -> Result<Given, Failure> {
        if file != Some(Path::new("-")) {
            return Ok(Given {
                path: file.map(Path::to_owned),
                _kept: None,
            });
        }
        let keeping = "cannot keep the input; is TMPDIR writable?";
        let kept = Scratch::create().context(keeping)?;
        let path = kept.path().join("input");
        let mut file = File::create_new(&path).context(keeping)?;
        std::io::copy(&mut std::io::stdin().lock(), &mut file)
            .context("cannot read standard input")?;
        Ok(Given {
            path: Some(path),
            _kept: Some(kept),
        })
    }
}
