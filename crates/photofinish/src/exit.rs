//! The exit codes. Scripts and CI jobs rely on them; they follow sysexits.h
//! where it has a word for the case.

use engine::{Error, Verdict};

/// The program was exercised and nothing was found.
pub const NOTHING_FOUND: u8 = 0;
/// Nothing was exercised: the program ran single-threaded, or nothing could be
/// instrumented. "No race found" would say more than is known.
pub const NOT_EXERCISED: u8 = 4;
/// Bad usage of the command line.
pub const USAGE: u8 = 64;
/// Races (or other violations) were found.
pub const FOUND: u8 = 66;
/// No usable Java.
pub const NO_JAVA: u8 = 69;
/// The tool itself failed.
pub const TOOL_FAILED: u8 = 70;
/// A limit was reached, or the user stopped it, before an answer.
pub const LIMIT: u8 = 75;

/// An error with the code the process ends with.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub error: anyhow::Error,
}

impl Failure {
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure {
            code: USAGE,
            error: anyhow::Error::msg(text.into()),
        }
    }
}

/// Whatever nobody gave a code to is a failure of the tool.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error = error.into();
        let code = match error.downcast_ref::<Error>() {
            Some(Error::Usage(_)) => USAGE,
            Some(Error::NoJava(_)) => NO_JAVA,
            Some(Error::ToolFailed(_)) | None => TOOL_FAILED,
        };
        Failure { code, error }
    }
}

/// What the process ends with.
pub fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NothingFound => NOTHING_FOUND,
        Verdict::Found => FOUND,
        Verdict::NotExercised => NOT_EXERCISED,
        Verdict::Limit => LIMIT,
        Verdict::ToolFailed => TOOL_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn errors_of_the_engine_have_codes_of_their_own() {
        let usage = || Error::usage("which program?");
        assert_eq!(Failure::from(usage()).code, USAGE);
        let said = Err::<(), _>(usage()).context("nothing was done");
        let failure = Failure::from(said.unwrap_err());
        assert_eq!(failure.code, USAGE);
        let text = format!("{:#}", failure.error);
        assert_eq!(text, "nothing was done: which program?");
        let java = Error::from(driver::java::JavaError::NotFound);
        assert_eq!(Failure::from(java).code, NO_JAVA);
        let ours = Error::tool_failed("no memory");
        assert_eq!(Failure::from(ours).code, TOOL_FAILED);
        assert_eq!(
            Failure::from(std::io::Error::other("full")).code,
            TOOL_FAILED
        );
    }
}
