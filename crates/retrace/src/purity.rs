//! What code without probes does, as far as dependences are concerned.
//!
//! A table of lines `kind pattern`; `#` starts a comment. A pattern is a class
//! and a method (`java.lang.Math.abs`, constructors as `<init>`), where `*`
//! stands for any method, for any class of a package, and `**` for any class
//! in and below one. The last line that fits counts, and a user's lines come
//! after the built-in ones.
//!
//! | kind | result depends on | ends | changes |
//! |---|---|---|---|
//! | `total` | its arguments | always | nothing |
//! | `pure` | its arguments | unless they make it throw | nothing |
//! | `output` | nothing | always | only the world outside |
//! | `state` | its arguments and its object's own state | as `pure` | that state |
//! | `events` | its arguments and the events in it | as those have it | what its events tell |
//! | `impure` | everything before | as everything before has it | anything |
//!
//! What is not in the table is impure: right, but of no use to prediction.

use rustc_hash::FxHashMap;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purity {
    Total,
    Pure,
    Output,
    State,
    Events,
    Impure,
}

/// A line of a table that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    pub line: usize,
    pub what: String,
}

/// The table.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    /// Rows that name a class, by it; the others are looked through.
    by_class: FxHashMap<String, Vec<u32>>,
    packages: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Row {
    kind: Purity,
    class: ClassPattern,
    /// `None`: any.
    method: Option<String>,
}

#[derive(Clone, Debug)]
enum ClassPattern {
    Exact,
    /// Classes of a package, given with the slash.
    Package(String),
    /// And of those below.
    Below(String),
}

impl Default for Table {
    /// The built-in one.
    fn default() -> Table {
        let mut table = Table {
            rows: Vec::new(),
            by_class: FxHashMap::default(),
            packages: Vec::new(),
        };
        // A test reads it.
        let _ = table.extend(include_str!("purity.txt"));
        table
    }
}

impl Table {
    /// Adds the lines of a text.
    pub fn extend(&mut self, text: &str) -> Result<(), BadLine> {
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(kind) = words.next() else { continue };
            let bad = |what: String| BadLine { line: at + 1, what };
            let kind = match kind {
                "total" => Purity::Total,
                "pure" => Purity::Pure,
                "output" => Purity::Output,
                "state" => Purity::State,
                "events" => Purity::Events,
                "impure" => Purity::Impure,
                other => return Err(bad(format!("{other:?} is no kind"))),
            };
            for pattern in words {
                self.add(kind, pattern)
                    .ok_or_else(|| bad(format!("{pattern:?} is no class and method")))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: Purity, pattern: &str) -> Option<()> {
        let (class, method) = pattern.rsplit_once('.')?;
        if class.is_empty() || method.is_empty() {
            return None;
        }
        let class = class.replace('.', "/");
        let number = self.rows.len() as u32;
        let pattern = if let Some(package) = class.strip_suffix("**") {
            self.packages.push(number);
            ClassPattern::Below(package.to_owned())
        } else if let Some(package) = class.strip_suffix('*') {
            self.packages.push(number);
            ClassPattern::Package(package.to_owned())
        } else {
            self.by_class.entry(class).or_default().push(number);
            ClassPattern::Exact
        };
        self.rows.push(Row {
            kind,
            class: pattern,
            method: (method != "*").then(|| method.to_owned()),
        });
        Some(())
    }

    /// What a method of a class (internal name) does when it has no probes;
    /// `None` if the table has no row for it.
    pub fn lookup(&self, class: &str, method: &str) -> Option<Purity> {
        let of_class = self.by_class.get(class).map_or(&[][..], Vec::as_slice);
        let fits = |number: &&u32| {
            let row = &self.rows[**number as usize];
            let class_fits = match &row.class {
                ClassPattern::Exact => true,
                ClassPattern::Below(package) => class.starts_with(package.as_str()),
                ClassPattern::Package(package) => class
                    .strip_prefix(package.as_str())
                    .is_some_and(|rest| !rest.contains('/')),
            };
            class_fits && row.method.as_ref().is_none_or(|m| m == method)
        };
        let exact = of_class.iter().rev().find(fits);
        let wide = self.packages.iter().rev().find(fits);
        let last = exact.max(wide)?;
        Some(self.rows[*last as usize].kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_well_formed() {
        let mut table = Table::default();
        table.rows.clear();
        table.by_class.clear();
        table.packages.clear();
        table.extend(include_str!("purity.txt")).unwrap();
        assert!(table.rows.len() > 50);
    }

    #[test]
    fn the_last_line_that_fits_counts() {
        let mut table = Table::default();
        assert_eq!(table.lookup("java/lang/Math", "abs"), Some(Purity::Total));
        assert_eq!(table.lookup("com/shop/Cart", "total"), None);
        table
            .extend("pure com.shop.** .x\n")
            .expect_err("a class is missing");
        table
            .extend("pure com.shop.**.*\nevents com.shop.Cart.add # why\nimpure com.shop.*.sum")
            .unwrap();
        assert_eq!(table.lookup("com/shop/Cart", "total"), Some(Purity::Pure));
        assert_eq!(table.lookup("com/shop/Cart", "add"), Some(Purity::Events));
        assert_eq!(table.lookup("com/shop/Cart", "sum"), Some(Purity::Impure));
        assert_eq!(table.lookup("com/shop/x/Cart", "sum"), Some(Purity::Pure));
        table.extend("total com.shop.Cart.*").unwrap();
        assert_eq!(table.lookup("com/shop/Cart", "sum"), Some(Purity::Total));
        assert_eq!(
            table.extend("\nquite com.X.y"),
            Err(BadLine {
                line: 2,
                what: "\"quite\" is no kind".into()
            })
        );
    }
}
