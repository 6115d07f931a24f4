//! A directory with the programs as classes, compiled together, and with classes that run
//! several of them in one JVM.

use crate::sample::Case;
use anyhow::{Context, Result, ensure};
use litmus::java::TELL;
use std::path::{Path, PathBuf};
use test_support::jdk;

#[derive(Debug)]
pub struct Workshop {
    dir: PathBuf,
}

impl Workshop {
    /// Writes and compiles the programs. Those of a group run in one JVM: `Group{n}` plays the ones
    /// that always end, one after the other; `Pick{n}` plays any one of those that are explored together,
    /// or of a part of them, from one place to before another.
    pub fn new(dir: &Path, groups: &[&[Case]]) -> Result<Workshop> {
        let sources = dir.join("src");
        std::fs::create_dir_all(&sources)?;
        let mut files = vec![("Tell".to_owned(), TELL.to_owned())];
        let cases = groups.iter().copied().flatten();
        files.extend(cases.map(|c| (c.class().to_owned(), c.source.text.clone())));
        for (n, group) in groups.iter().enumerate() {
            files.push((format!("Group{n}"), in_turn(n, group)));
            files.push((format!("Pick{n}"), any_one(n, group)));
        }
        let mut javac = jdk::tool("javac");
        javac.args(["-g", "-nowarn", "-XDstringConcat=inline", "-d"]);
        javac.arg(dir.join("classes"));
        for (class, text) in files {
            let file = sources.join(format!("{class}.java"));
            std::fs::write(&file, text)?;
            javac.arg(file);
        }
        let done = javac.output().context("javac does not start")?;
        let complaint = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "javac: {complaint}");
        Ok(Workshop {
            dir: dir.to_owned(),
        })
    }

    pub fn classes(&self) -> PathBuf {
        self.dir.join("classes")
    }
}

/// Plays the programs that always end, one after the other.
fn in_turn(n: usize, group: &[Case]) -> String {
    let ends = group.iter().filter(|case| case.truth.deadlocks.is_empty());
    let calls: String = ends
        .map(|case| format!("        {}.play();\n", case.class()))
        .collect();
    format!(
        "final class Group{n} {{\n    \
         public static void main(String[] args) throws InterruptedException {{\n\
         {calls}    }}\n}}\n"
    )
}

/// Plays one of them: which, depends on when the main thread reads what another thread counts. So
/// the executions of this program are those of all of them, and not their product.
fn any_one(n: usize, group: &[Case]) -> String {
    let group: Vec<&Case> = { group.iter() }
        .filter(|case| !case.is_explored_alone())
        .collect();
    let plays: String = (0..group.len())
        .map(|k| {
            format!(
                "            case {k}: {}.play(); break;\n",
                group[k].class()
            )
        })
        .collect();
    format!(
        "final class Pick{n} extends Thread {{\n    \
         static volatile int picked;\n    \
         static int end = {};\n    \
         @Override public void run() {{\n        \
         for (int k = picked + 1; k < end; k++) picked = k;\n    }}\n    \
         public static void main(String[] args) throws InterruptedException {{\n        \
         if (args.length == 2) {{\n            \
         picked = Integer.parseInt(args[0]);\n            \
         end = Integer.parseInt(args[1]);\n        }}\n        \
         Pick{n} counter = new Pick{n}();\n        \
         counter.start();\n        \
         int mine = picked;\n        \
         counter.join();\n        \
         switch (mine) {{\n{plays}            \
         default: throw new AssertionError();\n        }}\n    }}\n}}\n",
        group.len()
    )
}
