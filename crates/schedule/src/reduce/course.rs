//! Whose turn it is: a run as text, `0*3 1 0*2 time`.

use super::Moment;
use crate::op::Thread;
use std::fmt;
use std::str::FromStr;

/// A thread, or time, gets so many decisions in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Turn {
    /// None: time passes to the next deadline.
    pub thread: Option<Thread>,
    pub steps: u64,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Course(pub Vec<Turn>);

impl Course {
    /// The course that repeats these decisions.
    pub fn of(moments: &[Moment]) -> Course {
        Course::new(moments.iter().map(|m| Turn {
            thread: m.thread(),
            steps: 1,
        }))
    }

    /// Turns of one thread that follow each other are one; empty ones are none.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Course {
        let mut all: Vec<Turn> = Vec::new();
        for turn in turns {
            match all.last_mut() {
                _ if turn.steps == 0 => {}
                Some(last) if last.thread == turn.thread => {
                    last.steps = last.steps.saturating_add(turn.steps);
                }
                _ => all.push(turn),
            }
        }
        Course(all)
    }
}

const TIME: &str = "time";

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, turn) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            match turn.thread {
                Some(thread) => write!(f, "{thread}")?,
                None => f.write_str(TIME)?,
            }
            if turn.steps != 1 {
                write!(f, "*{}", turn.steps)?;
            }
        }
        Ok(())
    }
}

impl FromStr for Course {
    type Err = String;

    fn from_str(text: &str) -> Result<Course, String> {
        let turn = |word: &str| -> Option<Turn> {
            let (who, steps) = word.split_once('*').unwrap_or((word, "1"));
            Some(Turn {
                thread: match who {
                    TIME => None,
                    number => Some(number.parse().ok()?),
                },
                steps: steps.parse().ok()?,
            })
        };
        let turns: Result<Vec<Turn>, String> = text
            .split_ascii_whitespace()
            .map(|word| turn(word).ok_or_else(|| format!("{word:?} is no turn: `1*3` is one")))
            .collect();
        Ok(Course::new(turns?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courses_survive_being_written() {
        for text in ["", "0", "0*3 1 0*2 time 7*18446744073709551615"] {
            let course: Course = text.parse().unwrap();
            assert_eq!(course.to_string(), text);
        }
        assert_eq!("1 1*2 2*0 1".parse::<Course>().unwrap().to_string(), "1*4");
        for bad in ["x", "1*", "*2", "-1", "1**2", "99999999999"] {
            assert!(bad.parse::<Course>().is_err(), "{bad}");
        }
    }
}
