//! `./bench --only papers --quick`: every row that it promises is measured, in minutes.

use std::path::Path;
use std::process::Command;

/// Programs with `quick = true` in the lists of subjects.
fn quick(dir: &Path) -> Vec<String> {
    let lists = ["racefuzzer", "jpredictor", "jrf", "drfinder"];
    let all = lists.iter().flat_map(|list| {
        let text = std::fs::read_to_string(dir.join(format!("{list}.toml"))).unwrap();
        let list: toml::Table = text.parse().unwrap();
        let rows = list["row"].as_array().unwrap().clone();
        rows.into_iter().filter_map(|row| {
            let quick = row.get("quick")?.as_bool()?;
            quick.then(|| row["name"].as_str().unwrap().to_owned())
        })
    });
    all.collect()
}

#[test]
fn quick_tables_of_the_papers_are_measured() {
    let bench = Path::new(env!("CARGO_BIN_EXE_photofinish-bench"));
    let tool = bench.with_file_name("photofinish");
    assert!(
        tool.exists(),
        "the tool is measured: cargo build -p photofinish"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let done = Command::new(bench)
        .args(["--only", "papers", "--quick", "--limit", "60"])
        .current_dir(&root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{text}{errors}");
    let names = quick(&root.join("programs/papers"));
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let row = format!("| {name} |");
        let mut rows = text.lines().filter(|line| line.starts_with(&row));
        let first = rows
            .next()
            .unwrap_or_else(|| panic!("no row of {name}: {text}{errors}"));
        let left_out = ["not with --quick", "not measured"];
        assert!(!left_out.iter().any(|word| first.contains(word)), "{first}");
    }
}
