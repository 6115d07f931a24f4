//! The change as a diff of the sources: made in a copy and compiled there, with
//! the program's class path. Shown only if the compiler takes it and the class
//! file then says what it should.
//!
//! Fields become volatile, methods synchronized, statements of one line get a
//! synchronized block. Everything else is left to the reader.

use super::stable_names::{Field, Held, StableNames, Statement, Thing, dotted};
use crate::config::LaunchConfig;
use crate::sources::SourceTree;
use advise::{Name, Repair, Variable};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ACC_SYNCHRONIZED: u16 = 0x0020;
const ACC_VOLATILE: u16 = 0x0040;

pub struct Diffs<'a> {
    sources: &'a SourceTree,
    launch: &'a LaunchConfig,
    book: &'a StableNames,
}

/// A change of one file.
struct Change {
    path: PathBuf,
    old: Vec<String>,
    /// Lines that replace a line, which is counted from 0.
    new: BTreeMap<usize, Vec<String>>,
}

impl<'a> Diffs<'a> {
    pub fn new(
        sources: &'a SourceTree,
        launch: &'a LaunchConfig,
        book: &'a StableNames,
    ) -> Diffs<'a> {
        Diffs {
            sources,
            launch,
            book,
        }
    }

    pub fn unified(&self, repair: &Repair) -> Option<String> {
        match *repair {
            Repair::Volatile(Variable::Field(name)) => self.volatile(name),
            Repair::Synchronized { statement, lock } => self.synchronized(statement, lock),
            Repair::Methods(Variable::Field(name)) => self.methods(name),
            _ => None,
        }
    }

    fn volatile(&self, name: Name) -> Option<String> {
        let Some(Thing::Field(field)) = self.book.thing(name) else {
            return None;
        };
        let class = dotted(&field.class);
        let simple = simple_name(&class);
        let outer = outer_name(&class);
        let file = self.book.file_of(&class).unwrap_or(format!("{outer}.java"));
        let (path, old) = self.sources.whole(&class, &file)?;
        let (at, line) = declaration(&old, simple, field)?;
        let change = Change {
            path,
            new: BTreeMap::from([(at, vec![line])]),
            old,
        };
        let compiled = self.compile(&change, &field.class)?;
        is_volatile(&compiled, &field.name).then(|| change.text())
    }

    fn synchronized(&self, statement: u32, lock: Name) -> Option<String> {
        let statement = self.book.statement(statement)?;
        let Some(Thing::Lock(held)) = self.book.thing(lock) else {
            return None;
        };
        let lock = expression(held, statement)?;
        let class = dotted(&statement.class);
        let (path, old) = self.sources.whole(&class, statement.file.as_deref()?)?;
        let at = usize::try_from(statement.line).ok()?.checked_sub(1)?;
        let line = old.get(at)?;
        let text = line.trim();
        // Half a statement, or one whose variable is used later.
        if !is_whole(text) {
            return None;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let new = vec![
            format!("{indent}synchronized ({lock}) {{"),
            format!("{indent}    {text}"),
            format!("{indent}}}"),
        ];
        let new = BTreeMap::from([(at, new)]);
        let change = Change { path, old, new };
        self.compile(&change, &statement.class)?;
        Some(change.text())
    }

    fn methods(&self, field: Name) -> Option<String> {
        let methods = self.book.methods(field);
        let first = *methods.first()?;
        let class = dotted(&first.class);
        let (path, old) = self.sources.whole(&class, first.file.as_deref()?)?;
        let mut new = BTreeMap::new();
        for method in &methods {
            let (at, line) = header(&old, method)?;
            new.insert(at, vec![line]);
        }
        let change = Change { path, old, new };
        let compiled = self.compile(&change, &first.class)?;
        let is_made = |s: &&Statement| {
            let flags = instrument::repair::method_flags(&compiled, &s.method, &s.desc);
            flags.is_some_and(|flags| flags & ACC_SYNCHRONIZED != 0)
        };
        methods.iter().all(is_made).then(|| change.text())
    }

    /// Compiles the changed file by itself; the bytes of one of its classes.
    fn compile(&self, change: &Change, class: &str) -> Option<Vec<u8>> {
        let scratch = tempfile::tempdir().ok()?;
        let file = scratch.path().join(change.path.file_name()?);
        std::fs::write(&file, change.whole()).ok()?;
        let out = scratch.path().join("classes");
        let mut path = OsString::new();
        for entry in driver::classes::class_path(&self.launch.program) {
            path.push(entry);
            path.push(":");
        }
        let compiled = Command::new(javac(self.launch.java.as_deref())?)
            .args(["-nowarn", "-proc:none", "-implicit:none", "-cp"])
            .arg(path)
            .arg("-d")
            .arg(&out)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok()?;
        if !compiled.success() {
            return None;
        }
        std::fs::read(out.join(format!("{class}.class"))).ok()
    }
}

/// The compiler beside the java that runs the program.
fn javac(java: Option<&Path>) -> Option<PathBuf> {
    let java = driver::java::Java::find(java).ok()?;
    let real = java.path.canonicalize().ok()?;
    let javac = real.parent()?.join("javac");
    javac.exists().then_some(javac)
}

impl Change {
    /// The new file.
    fn whole(&self) -> String {
        let mut text = String::new();
        for (n, line) in self.old.iter().enumerate() {
            let lines = self
                .new
                .get(&n)
                .map_or(std::slice::from_ref(line), |new| new);
            lines.iter().for_each(|line| text += &format!("{line}\n"));
        }
        text
    }

    /// Unified, with three lines around each change.
    fn text(&self) -> String {
        const AROUND: usize = 3;
        let mut hunks: Vec<Range<usize>> = Vec::new();
        for at in self.new.keys() {
            let end = (at + 1 + AROUND).min(self.old.len());
            match hunks.last_mut() {
                Some(last) if at.saturating_sub(AROUND) <= last.end => last.end = end,
                _ => hunks.push(at.saturating_sub(AROUND)..end),
            }
        }
        let path = self.path.display();
        let mut text = format!("--- {path}\n+++ {path}\n");
        // By how many lines the new file is ahead of the old one.
        let mut ahead = 0;
        for hunk in hunks {
            let added = self.new.range(hunk.clone()).map(|(_, new)| new.len() - 1);
            let added: usize = added.sum();
            let (start, length) = (hunk.start + 1, hunk.len());
            let (now, longer) = (start + ahead, length + added);
            text += &format!("@@ -{start},{length} +{now},{longer} @@\n");
            for n in hunk {
                let line = &self.old[n];
                match self.new.get(&n) {
                    Some(new) => {
                        text += &format!("-{line}\n");
                        new.iter().for_each(|l| text += &format!("+{l}\n"));
                    }
                    None => text += &format!(" {line}\n"),
                }
            }
            ahead += added;
        }
        text
    }
}

/// The line that declares the field, and the line with `volatile` in it.
fn declaration(lines: &[String], class: &str, field: &Field) -> Option<(usize, String)> {
    let words = |line: &str| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let declares = |line: &String| {
        let words = words(line);
        words.windows(2).any(|pair| {
            matches!(pair[0].as_str(), "class" | "enum" | "record" | "interface")
                && pair[1] == class
        })
    };
    let start = lines.iter().position(declares)?;
    for (n, line) in lines.iter().enumerate().skip(start) {
        let text = line.trim_start();
        let head = text.split(['=', ';', '(']).next().unwrap_or_default();
        let named = words(head);
        let is_it = named.len() > 1
            && named.last().is_some_and(|w| *w == field.name)
            && !matches!(named[0].as_str(), "return" | "throw" | "new" | "else")
            && !head.contains(['.', '{', '}', '"', '+'])
            && text[head.len()..].starts_with(['=', ';'])
            && !named.iter().any(|w| w == "volatile");
        if is_it {
            return Some((n, with_modifier(line, "volatile")?));
        }
    }
    None
}

/// The line in which the method of a statement begins, with `synchronized` in it.
/// What it takes for one need not be: the compiled class tells.
fn header(lines: &[String], statement: &Statement) -> Option<(usize, String)> {
    let last = usize::try_from(statement.line).ok()?.min(lines.len());
    let begins = |line: &String| {
        let Some((before, _)) = line.split_once(&format!("{}(", statement.method)) else {
            return false;
        };
        let mut words = before.split_whitespace();
        let is_call = matches!(
            words.next(),
            None | Some("return" | "throw" | "new" | "else")
        ) || before.contains(['=', '(', ';', '/', '"'])
            || !before.ends_with(char::is_whitespace);
        !is_call && !line.trim_end().ends_with(';')
    };
    let at = lines[..last].iter().rposition(begins)?;
    Some((at, with_modifier(&lines[at], "synchronized")?))
}

/// A declaration with one more modifier, behind those that it has.
fn with_modifier(line: &str, modifier: &str) -> Option<String> {
    const MODIFIERS: [&str; 6] = [
        "public",
        "protected",
        "private",
        "static",
        "final",
        "transient",
    ];
    let mut at = line.len() - line.trim_start().len();
    while let Some(word) = line[at..].split_whitespace().next()
        && MODIFIERS.contains(&word)
    {
        at += line[at..].find(word)? + word.len();
        at += line[at..].len() - line[at..].trim_start().len();
    }
    Some(format!("{}{modifier} {}", &line[..at], &line[at..]))
}

/// The lock as the code at the statement would write it.
fn expression(held: &Held, at: &Statement) -> Option<String> {
    let same = |class: &str| class == at.class;
    Some(match held {
        Held::Static(field) if same(&field.class) => field.name.clone(),
        Held::Static(field) => format!("{}.{}", source_name(&field.class), field.name),
        Held::Field(field) if same(&field.class) => field.name.clone(),
        Held::This(class) if same(class) => "this".to_owned(),
        Held::Class(class) => format!("{}.class", source_name(class)),
        _ => return None,
    })
}

/// `a/B$C` as it is written in Java.
fn source_name(class: &str) -> String {
    class.replace(['/', '$'], ".")
}

/// A statement that ends in its line and declares nothing.
fn is_whole(text: &str) -> bool {
    let text = text.split("//").next().unwrap_or_default().trim_end();
    let opens = text.contains(['{', '}']);
    let mut before = text
        .split('=')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let declares = before.clone().count() > 1 && text.contains('=');
    let leaves = matches!(
        before.next(),
        Some("return" | "break" | "continue" | "if" | "while" | "for" | "case" | "else")
    );
    text.ends_with(';') && !opens && !declares && !leaves
}

fn simple_name(class: &str) -> &str {
    let last = class.rsplit('.').next().unwrap_or(class);
    last.rsplit('$').next().unwrap_or(last)
}

fn outer_name(class: &str) -> &str {
    let last = class.rsplit('.').next().unwrap_or(class);
    last.split('$').next().unwrap_or(last)
}

fn is_volatile(bytes: &[u8], field: &str) -> bool {
    instrument::repair::field_flags(bytes, field).is_some_and(|flags| flags & ACC_VOLATILE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn field(name: &str) -> Field {
        Field {
            class: "a/Outer$Inner".into(),
            name: name.into(),
            desc: "I".into(),
            is_static: false,
        }
    }

    const SOURCE: &str = "package a;
class Outer {
    int x = 1;
    static final class Inner extends Thread {
        private static int x; // here
        Map<String, List<Integer>> all = null;
        int first, second;
        void run() {
            int y = x;
            return x;
        }
        int y = 3;
    }
}";

    #[test]
    fn declarations_are_found_in_their_class() {
        let source = lines(SOURCE);
        let found = |name: &str| declaration(&source, "Inner", &field(name));
        assert_eq!(
            found("x"),
            Some((4, "        private static volatile int x; // here".into()))
        );
        let all = "        volatile Map<String, List<Integer>> all = null;";
        assert_eq!(found("all"), Some((5, all.into())));
        assert_eq!(found("absent"), None);
        assert_eq!(declaration(&source, "Other", &field("x")), None);
        // A local variable looks the same: the compiled class tells.
        assert_eq!(found("y").map(|f| f.0), Some(8));
    }

    #[test]
    fn only_whole_statements_get_a_block() {
        for whole in ["count++;", "a.b = c.d; // why", "call(x == y);", "x = 1;"] {
            assert!(is_whole(whole), "{whole}");
        }
        for part in [
            "if (x) {",
            "int y = x;",
            "return x;",
            "} else x = 1;",
            "a +",
            "while (x) y();",
        ] {
            assert!(!is_whole(part), "{part}");
        }
    }

    #[test]
    fn diffs_are_unified() {
        let change = Change {
            path: "src/A.java".into(),
            old: lines("1\n2\n3\n4\n5\n6"),
            new: BTreeMap::from([(1, vec!["two".into(), "more".into()])]),
        };
        let wanted =
            "--- src/A.java\n+++ src/A.java\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+more\n 3\n 4\n 5\n";
        assert_eq!(change.text(), wanted);
        assert_eq!(change.whole(), "1\ntwo\nmore\n3\n4\n5\n6\n");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let old: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let two = || vec!["a".to_owned(), "b".to_owned()];
        let heads = |at: &[usize]| {
            let change = Change {
                path: "A.java".into(),
                old: old.clone(),
                new: at.iter().map(|at| (*at, two())).collect(),
            };
            let text = change.text();
            let heads = text.lines().filter(|line| line.starts_with("@@"));
            heads.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(heads(&[4, 8]), ["@@ -2,11 +2,13 @@"]);
        assert_eq!(heads(&[4, 15]), ["@@ -2,7 +2,8 @@", "@@ -13,7 +14,8 @@"]);
    }

    #[test]
    fn methods_are_found_by_a_statement_in_them() {
        let source = lines(
            "class A {
    private final void put(int x) {
        put(x, 1);
        next(put(x));
    }
    <T> T
    put(int x, T y)
    { return y; }
}",
        );
        let found = |line| {
            let statement = Statement {
                class: "A".into(),
                method: "put".into(),
                desc: "(I)V".into(),
                file: None,
                line,
                has_line: true,
            };
            header(&source, &statement)
        };
        let wanted = "    private final synchronized void put(int x) {";
        assert_eq!(found(4), Some((1, wanted.into())));
        assert_eq!(found(1), None);
        // A header over several lines is missed; the compiled class tells.
        assert_eq!(found(8).map(|f| f.0), Some(1));
    }
}
