//! The programs in `programs/` and what is expected of them.

use super::{Program, compile, once, scratch};
use crate::{jdk, root};
use serde::Deserialize;
use std::collections::BTreeSet;

/// An `expected.toml`; `programs/README.md` explains it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    #[serde(default = "src")]
    pub source: String,
    #[serde(default)]
    pub javac: Vec<String>,
    pub main: Option<String>,
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
}

fn src() -> String {
    "src".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub name: String,
    pub main: Option<String>,
    pub races: Vec<Location>,
    #[serde(default)]
    pub may: Vec<Location>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub jvm: Vec<String>,
    #[serde(default)]
    pub input: String,
    #[serde(default)]
    pub exit: i32,
    pub threads: Option<u64>,
    pub source: Option<String>,
    pub module: Option<String>,
    pub manifest: Option<String>,
    pub resources: Option<String>,
    pub output: Option<String>,
    /// What some schedule brings about.
    pub diagnosis: Option<String>,
    /// What `advise` must propose and find to help.
    #[serde(default)]
    pub repairs: Vec<String>,
    /// Classes of equivalent executions, for `verify`.
    pub executions: Option<u64>,
    /// False if nobody else has counted them.
    pub modelled: Option<bool>,
    /// Of kernels to measure with.
    pub kind: Option<String>,
    pub small: Option<String>,
    pub directory: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Location {
    Field {
        field: String,
        /// The field of the program's that holds the object, if it is the JDK's.
        holder: Option<String>,
    },
    Array {
        array: String,
        holder: Option<String>,
    },
}

impl Location {
    pub fn name(&self) -> &str {
        match self {
            Location::Field { field, .. } => field,
            Location::Array { array, .. } => array,
        }
    }

    /// What a report calls it for people.
    pub fn shown(&self) -> String {
        let (Location::Field { holder, .. } | Location::Array { holder, .. }) = self;
        match holder {
            Some(holder) => format!("inside {holder}"),
            None => self.name().to_owned(),
        }
    }
}

pub fn names(locations: &[Location]) -> BTreeSet<&str> {
    locations.iter().map(Location::name).collect()
}

impl Expected {
    pub fn load(dir: &str) -> Expected {
        let path = root().join("programs").join(dir).join("expected.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The same for tests that are made from its sections, which live as long as the
    /// test process.
    pub fn for_trials(dir: &str) -> &'static Expected {
        Box::leak(Box::new(Expected::load(dir)))
    }

    /// The section of this name.
    pub fn section(&self, name: &str) -> &Section {
        let mut sections = self.sections.iter();
        let found = sections.find(|section| section.name == name);
        found.unwrap_or_else(|| panic!("no section {name}"))
    }

    /// The program that runs all sections, where they share a main class.
    pub fn whole(&self, dir: &str) -> Program {
        let [(_, program)] = &self.programs(dir)[..] else {
            panic!("one main class for all sections of {dir}");
        };
        program.clone()
    }

    /// The programs to run to see all of it: one for all sections, if they
    /// share a main class.
    pub fn programs(&self, dir: &str) -> Vec<(String, Program)> {
        match (&self.main, self.sections.first()) {
            (Some(_), Some(section)) => {
                let mut all = self.program(dir, section);
                all.args.pop();
                vec![(dir.to_owned(), all)]
            }
            _ => {
                let named = |s: &Section| (format!("{dir}-{}", s.name), self.program(dir, s));
                self.sections.iter().map(named).collect()
            }
        }
    }

    /// Compiles what the section needs and says how to run it.
    pub fn program(&self, dir: &str, section: &Section) -> Program {
        let source = section.source.as_ref().unwrap_or(&self.source);
        let classes = compile(&format!("programs/{dir}/{source}"), &self.javac);
        let classes = classes.to_str().unwrap().to_owned();
        let mut args = section.jvm.clone();
        if let Some(module) = &section.module {
            args.extend(["-p".to_owned(), classes, "-m".to_owned(), module.clone()]);
        } else if let Some(manifest) = &section.manifest {
            let jar = once(format!("jar {}", section.name), || {
                let jar = scratch(&format!("jar-{}", section.name)).join("app.jar");
                let below = |path: &String| root().join("programs").join(dir).join(path);
                let mut make = jdk::tool("jar");
                make.arg("cfm").arg(&jar).arg(below(manifest));
                make.args(["-C", &classes, "."]);
                if let Some(resources) = &section.resources {
                    make.arg("-C").arg(below(resources)).arg(".");
                }
                assert!(make.status().unwrap().success());
                jar
            });
            args.extend(["-jar".to_owned(), jar.to_str().unwrap().to_owned()]);
        } else {
            let main = section
                .main
                .as_ref()
                .or(self.main.as_ref())
                .expect("a main class");
            args.extend(["-cp".to_owned(), classes, main.clone()]);
        }
        if self.main.is_some() {
            args.push(section.name.clone());
        }
        if let Some(directory) = &section.directory {
            let path = root().join("programs").join(dir).join(directory);
            args.push(path.to_str().unwrap().to_owned());
        }
        args.extend(section.small.iter().chain(&section.args).cloned());
        Program {
            args,
            input: section.input.clone(),
            ..Program::default()
        }
    }
}
