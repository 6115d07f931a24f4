//! The change as a diff of the sources: made in a copy and compiled there, with
//! the program's class path. Shown only if the compiler takes it and the class
//! file then says what it should.
//!
//! Fields become volatile, methods synchronized, statements get a synchronized
//! block ([`java_source`]). Everything else is left to the reader.

use super::java_source::{self, Edit, JavaSource};
use super::stable_names::{Held, StableNames, Statement, Thing};
use crate::config::LaunchConfig;
use crate::sources::SourceTree;
use advise::{Name, Repair, Variable};
use driver::scratch::Scratch;
use encoding::names::dotted;
use similar::TextDiff;
use std::ffi::OsString;
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
    old: String,
    new: String,
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
        let file = self.book.file_of(&class);
        let file = file.unwrap_or_else(|| format!("{}.java", outer_name(&class)));
        let change = self.change(&class, &file, |source| {
            Some(vec![source.volatile(&class, &field.name)?])
        })?;
        let compiled = self.compile(&change, &field.class)?;
        is_volatile(&compiled, &field.name).then(|| change.unified())
    }

    fn synchronized(&self, statement: u32, lock: Name) -> Option<String> {
        let statement = self.book.statement(statement)?;
        let Some(Thing::Lock(held)) = self.book.thing(lock) else {
            return None;
        };
        let lock = expression(held, statement)?;
        let class = dotted(&statement.class);
        let change = self.change(&class, statement.file.as_deref()?, |source| {
            Some(vec![source.block(statement.line, &lock)?])
        })?;
        self.compile(&change, &statement.class)?;
        Some(change.unified())
    }

    fn methods(&self, field: Name) -> Option<String> {
        let methods = self.book.methods(field);
        let first = *methods.first()?;
        let class = dotted(&first.class);
        let change = self.change(&class, first.file.as_deref()?, |source| {
            let edits = methods
                .iter()
                .map(|m| source.synchronized(&m.method, m.line));
            let mut edits = edits.collect::<Option<Vec<Edit>>>()?;
            edits.sort_by_key(|edit| edit.at.start);
            edits.dedup();
            Some(edits)
        })?;
        let compiled = self.compile(&change, &first.class)?;
        let is_made = |s: &&Statement| {
            let flags = instrument::repair::method_flags(&compiled, &s.method, &s.desc);
            flags.is_some_and(|flags| flags & ACC_SYNCHRONIZED != 0)
        };
        methods.iter().all(is_made).then(|| change.unified())
    }

    /// A source file, changed.
    fn change(
        &self,
        class: &str,
        file: &str,
        edit: impl Fn(&JavaSource<'_>) -> Option<Vec<Edit>>,
    ) -> Option<Change> {
        let (path, lines) = self.sources.whole(class, file)?;
        let old = lines.join("\n") + "\n";
        let edits = edit(&JavaSource::parse(&old)?)?;
        let new = java_source::apply(&old, edits);
        Some(Change { path, old, new })
    }

    /// Compiles the changed file by itself; the bytes of one of its classes.
    fn compile(&self, change: &Change, class: &str) -> Option<Vec<u8>> {
        let scratch = Scratch::create().ok()?;
        let file = scratch.path().join(change.path.file_name()?);
        std::fs::write(&file, &change.new).ok()?;
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
    /// The difference, with three lines around each change.
    fn unified(&self) -> String {
        let path = self.path.display().to_string();
        let diff = TextDiff::from_lines(&self.old, &self.new);
        diff.unified_diff().header(&path, &path).to_string()
    }
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

    #[test]
    fn diffs_are_unified() {
        let change = Change {
            path: "src/A.java".into(),
            old: "1\n2\n3\n4\n5\n6\n".into(),
            new: "1\ntwo\nmore\n3\n4\n5\n6\n".into(),
        };
        let wanted =
            "--- src/A.java\n+++ src/A.java\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+more\n 3\n 4\n 5\n";
        assert_eq!(change.unified(), wanted);
    }
}
