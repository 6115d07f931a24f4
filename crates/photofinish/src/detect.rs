//! `detect`: run the program, one or many times, and report what raced.

use crate::args::{Detect, Detector};
use crate::exit::Failure;
use crate::launch::Launcher;
use crate::offline;
use crate::session::Session;
use crate::show;
use driver::options::Mode;
use std::io::IsTerminal;

pub fn command(args: &Detect) -> Result<u8, Failure> {
    if let Some(trace) = &args.trace {
        return offline::command(args, trace);
    }
    let launcher = Launcher::new(&args.launch)?;
    // Fail now, not after an hour of running.
    let json = show::JsonFile::open(&args.show)?;
    let output = show::program_output(&args.show);
    let progress =
        args.runs > 1 && !args.show.quiet && (args.show.verbose || std::io::stderr().is_terminal());

    let mut session = Session::new(&args.launch);
    for number in 1..=args.runs {
        if progress {
            eprintln!("photofinish: run {number} of {}", args.runs);
        }
        session.add(launcher.run(number, mode(args.detector), None, output)?);
        if session.is_over() {
            break;
        }
    }
    let (report, code) = session.finish("detect");
    json.write(&report)?;
    show::to_terminal(&report, &args.show, &args.launch.program, std::io::stderr())?;
    Ok(code)
}

fn mode(detector: Detector) -> Mode {
    match detector {
        Detector::Fasttrack => Mode::FastTrack,
        Detector::Hybrid => Mode::Hybrid,
        Detector::Lockset => Mode::Lockset,
        Detector::H => Mode::H,
    }
}
