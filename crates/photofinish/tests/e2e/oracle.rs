//! Random programs as Java under the commands of the tool, held against brute force: a short
//! version of what `./oracle` does with thousands.

use oracle::campaign::{Config, run};
use test_support::programs::tool_path;

#[test]
fn nothing_certain_is_wrong_and_what_is_complete_is_all_there_is() {
    let config = Config {
        tool: tool_path(),
        from: 0,
        programs: 24,
        at_most: None,
        confirm_every: 12,
        every_scheduler: false,
        keep: None,
    };
    let tally = run(&config, |_| {}).unwrap();
    assert_eq!(tally.contradictions, [] as [String; 0], "{tally}");
    assert_eq!(tally.broken, [] as [String; 0], "{tally}");
    // What the programs were chosen for.
    assert_eq!(tally.programs, 24);
    assert!(tally.racy >= 8, "{tally}");
    assert!(tally.complete >= 22, "{tally}");
    for command in ["verify", "detect", "predict", "confirm"] {
        assert!(tally.commands.contains_key(command), "{tally}");
    }
}
