//! The groups of `--help`, and what `-h` leaves out.

use super::Cli;
use clap::{Arg, Command, CommandFactory};

/// Options by their ids, in the order of the help.
struct Group {
    heading: &'static str,
    /// In `-h` and `--help`.
    common: &'static [&'static str],
    /// In `--help` only.
    rare: &'static [&'static str],
}

/// In the order of the help. An option of no group is among the last one's rare ones.
const GROUPS: [Group; 5] = [
    Group {
        heading: "Program",
        common: &[
            "program", "exec", "java", "input", "trace", "from", "log", "case", "result", "debug",
        ],
        rare: &["jvms"],
    },
    Group {
        heading: "What to look for",
        common: &[
            "detector",
            "scheduler",
            "schedulers",
            "engine",
            "pair",
            "race",
            "confirm",
            "atomicity",
            "property",
            "include",
            "exclude",
            "bound",
            "memory",
            "skip",
            "full",
        ],
        rare: &["units", "trusted", "untracked", "depth", "depths", "order"],
    },
    Group {
        heading: "Limits",
        common: &[
            "time_limit",
            "memory_limit",
            "runs",
            "trials",
            "tries",
            "max_executions",
            "max_seconds",
            "stop_at",
            "stop_after",
            "until",
            "resume",
            "jobs",
            "shard",
        ],
        rare: &[
            "budget",
            "all_trials",
            "threshold",
            "cost_runs",
            "cut_after",
            "cuts",
            "points",
            "max_steps",
            "watchdog",
        ],
    },
    Group {
        heading: "Output",
        common: &[
            "output", "json", "html", "sarif", "junit", "svg", "live", "baseline", "suppress",
            "fail_on", "results", "sources", "quiet", "verbose",
        ],
        rare: &["perfetto", "color", "keep"],
    },
    Group {
        heading: "Advanced",
        common: &[],
        rare: &[
            "seed",
            "isolate",
            "relation",
            "purity",
            "operations",
            "clock",
            "config",
            "no_config",
        ],
    },
];

/// The whole command line. Commands that run a program or show a result have their options in
/// groups; the others have few.
pub fn command() -> Command {
    Cli::command().mut_args(grouped).mut_subcommands(|command| {
        let has_many = command
            .get_arguments()
            .any(|arg| arg.get_id() == "java" || arg.get_id() == "html");
        match has_many && command.get_name() != "doctor" {
            true => command.mut_args(grouped),
            false => command,
        }
    })
}

fn grouped(arg: Arg) -> Arg {
    if arg.is_hide_set() || arg.is_positional() && arg.get_id() != "program" {
        return arg;
    }
    let found = GROUPS.iter().find_map(|group| {
        let mut all = group.common.iter().chain(group.rare);
        let place = all.position(|id| arg.get_id() == id)?;
        Some((group, place))
    });
    let (group, place) = found.unwrap_or((&GROUPS[GROUPS.len() - 1], usize::MAX));
    arg.help_heading(group.heading)
        .display_order(place)
        .hide_short_help(place >= group.common.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn headings(help: &str) -> Vec<&str> {
        let known = |line: &&str| {
            GROUPS
                .iter()
                .any(|group| line.strip_suffix(':') == Some(group.heading))
        };
        help.lines().filter(known).collect()
    }

    #[test]
    fn help_is_grouped_and_the_short_one_is_short() {
        let mut all = command();
        all.build();
        for name in [
            "detect", "hunt", "confirm", "verify", "predict", "advise", "record", "replay",
        ] {
            let command = all.find_subcommand_mut(name).unwrap();
            let (short, long) = (
                command.render_help().to_string(),
                command.render_long_help().to_string(),
            );
            let wanted = [
                "Program:",
                "What to look for:",
                "Limits:",
                "Output:",
                "Advanced:",
            ];
            assert_eq!(headings(&long), wanted, "{name}");
            assert_eq!(headings(&short), wanted[..4], "{name}");
            assert!(short.lines().count() < 60, "{name}: {short}");
            assert!(
                !short.contains("--watchdog") && !short.contains("--color"),
                "{name}"
            );
        }
    }

    #[test]
    fn groups_name_options_that_there_are() {
        let all = command();
        let options = all
            .get_arguments()
            .chain(all.get_subcommands().flat_map(Command::get_arguments));
        let known: BTreeSet<&str> = options.map(|arg| arg.get_id().as_str()).collect();
        for id in GROUPS
            .iter()
            .flat_map(|group| group.common.iter().chain(group.rare))
        {
            assert!(known.contains(id), "{id}");
        }
    }
}
