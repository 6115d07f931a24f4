//! The change as a diff of the sources: made in a copy and compiled there, with
//! the program's class path. Shown only if the compiler takes it and the class
//! file then says what it should.
//!
//! Fields become volatile, statements of one line get a synchronized block.
//! Everything else is left to the reader.

use super::book::{Book, Field, Held, Statement, Thing, dotted};
use crate::args::Launch;
use crate::sources::SourceTree;
use advise::{Name, Repair, Variable};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ACC_VOLATILE: u16 = 0x0040;

pub struct Diffs<'a> {
    sources: &'a SourceTree,
    launch: &'a Launch,
    book: &'a Book,
}

/// One change of one file: lines that replace a line.
struct Change {
    path: PathBuf,
    old: Vec<String>,
    /// Counted from 0.
    at: usize,
    new: Vec<String>,
}

impl<'a> Diffs<'a> {
    pub fn new(sources: &'a SourceTree, launch: &'a Launch, book: &'a Book) -> Diffs<'a> {
        Diffs {
            sources,
            launch,
            book,
        }
    }

    pub fn of(&self, repair: &Repair) -> Option<String> {
        match *repair {
            Repair::Volatile(Variable::Field(name)) => self.volatile(name),
            Repair::Synchronized { statement, lock } => self.synchronized(statement, lock),
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
            at,
            new: vec![line],
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
        let change = Change { path, old, at, new };
        self.compile(&change, &statement.class)?;
        Some(change.text())
    }

    /// Compiles the changed file by itself; the bytes of one of its classes.
    fn compile(&self, change: &Change, class: &str) -> Option<Vec<u8>> {
        let scratch = tempfile::tempdir().ok()?;
        let file = scratch.path().join(change.path.file_name()?);
        let mut lines = change.old.clone();
        lines.splice(change.at..=change.at, change.new.iter().cloned());
        std::fs::write(&file, lines.join("\n") + "\n").ok()?;
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
    /// Unified, with three lines around it.
    fn text(&self) -> String {
        const AROUND: usize = 3;
        let start = self.at.saturating_sub(AROUND);
        let end = (self.at + 1 + AROUND).min(self.old.len());
        let path = self.path.display();
        let mut text = format!("--- {path}\n+++ {path}\n");
        let length = end - start;
        let longer = length - 1 + self.new.len();
        text += &format!("@@ -{0},{length} +{0},{longer} @@\n", start + 1);
        for (n, line) in self.old.iter().enumerate().take(end).skip(start) {
            if n == self.at {
                text += &format!("-{line}\n");
                self.new.iter().for_each(|l| text += &format!("+{l}\n"));
            } else {
                text += &format!(" {line}\n");
            }
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
            const MODIFIERS: [&str; 5] = ["public", "protected", "private", "static", "transient"];
            let indent = line.len() - text.len();
            let mut at = indent;
            while let Some(word) = line[at..].split_whitespace().next()
                && MODIFIERS.contains(&word)
            {
                at += line[at..].find(word)? + word.len();
                at += line[at..].len() - line[at..].trim_start().len();
            }
            return Some((n, format!("{}volatile {}", &line[..at], &line[at..])));
        }
    }
    None
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
            at: 1,
            new: vec!["two".into(), "more".into()],
        };
        let wanted =
            "--- src/A.java\n+++ src/A.java\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+more\n 3\n 4\n 5\n";
        assert_eq!(change.text(), wanted);
    }
}
