//! Statements of the JDK in calls of the program: each pair has a number that stands in
//! stamps in place of the statement's, so that the first access of a race is known with
//! the call that led to it, though only its stamp is left. In recordings it stands in
//! events of `java.util.concurrent`.
//!
//! The numbers are the last ones that stamps have room for, and there are so many of one
//! statement at most: in further calls it goes by its own number, and nobody knows who
//! called. A number is good as long as the JVM lives, also in one that makes several
//! executions: there the same classes have the same statements.

use crate::memory::MAX_SITES;
use crate::sites::Sites;
use rustc_hash::FxHashMap;
use std::sync::{RwLock, RwLockReadGuard};

/// Numbers of pairs.
const MOST: usize = 1 << 16;
/// Calls that are told apart at one statement.
const MOST_CALLS: u32 = 64;
/// The first number that is one of a pair.
pub const FIRST: u32 = (MAX_SITES - MOST) as u32;

#[derive(Debug, Default)]
pub struct Contexts(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: FxHashMap<Context, u32>,
    /// By number, from [`FIRST`] on.
    all: Vec<Context>,
    /// By statement, how many calls it is known in.
    calls: FxHashMap<u32, u32>,
}

/// Both by their sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    pub statement: u32,
    /// The program's call into the JDK; 0 if it is not known.
    pub call: u32,
}

impl Contexts {
    /// What stands in stamps for a statement in a call.
    pub fn number(&self, sites: &Sites, statement: u32, call: u32) -> u32 {
        // Whose it is, is known without a call in the program itself.
        if statement >= FIRST || !sites.is_jdk(statement) {
            return statement;
        }
        let context = Context { statement, call };
        if let Some(number) = self.read().numbers.get(&context) {
            return *number;
        }
        let mut known = self.0.write().unwrap_or_else(|e| e.into_inner());
        let Known {
            numbers,
            all,
            calls,
        } = &mut *known;
        let of_statement = calls.entry(statement).or_default();
        if all.len() == MOST || *of_statement == MOST_CALLS {
            return statement;
        }
        *numbers.entry(context).or_insert_with(|| {
            let number = FIRST + all.len() as u32;
            all.push(context);
            *of_statement += 1;
            number
        })
    }

    /// The pairs from the `from`th on, with their numbers.
    pub fn all_from(&self, from: usize) -> Vec<(u32, Context)> {
        let known = self.read();
        let new = known.all.get(from..).unwrap_or_default();
        let first = FIRST + from as u32;
        (first..).zip(new.iter().copied()).collect()
    }

    /// What a number in a stamp stands for.
    pub fn context(&self, number: u32) -> Context {
        let at = number.checked_sub(FIRST).map(|at| at as usize);
        let found = at.and_then(|at| self.read().all.get(at).copied());
        found.unwrap_or(Context {
            statement: number,
            call: 0,
        })
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(|e| e.into_inner())
    }
}
