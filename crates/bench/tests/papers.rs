//! `docs/papers.md` names modules and tests; they have to be there.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/papers.md")).unwrap()
}

/// What the page has between backquotes and looks like a path.
fn named(page: &str) -> Vec<String> {
    let odd = page.split('`').skip(1).step_by(2);
    let is_path = |text: &&str| text.contains('/') && !text.contains([' ', '*', '<']);
    odd.filter(is_path).map(str::to_owned).collect()
}

/// Programs and the bridge are at the top, all else below `crates`.
fn path_of(name: &str) -> PathBuf {
    let top = ["programs/", "java/", "docs/"];
    match top.iter().any(|dir| name.starts_with(dir)) {
        true => root().join(name),
        false => root().join("crates").join(name),
    }
}

#[test]
fn what_the_page_names_exists() {
    let mut wrong = Vec::new();
    let names = named(&page());
    assert!(names.len() > 200, "{}", names.len());
    for name in names {
        let (file, test) = match name.split_once("::") {
            Some((file, test)) => (file, Some(test)),
            None => (name.as_str(), None),
        };
        let path = path_of(file);
        let there = match test {
            None => path.exists(),
            Some(test) => std::fs::read_to_string(&path)
                .is_ok_and(|text| text.contains(&format!("fn {test}("))),
        };
        if !there {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/papers.md names what is not there: {wrong:#?}"
    );
}

#[test]
fn every_row_says_how_it_compares() {
    let page = page();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 4, "{row}");
        let how = cells[3].trim();
        let words = ["As", "Better", "Not", "See"];
        assert!(words.iter().any(|word| how.starts_with(word)), "{row}");
    }
}
