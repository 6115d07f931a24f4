//! The exit codes. Scripts and CI jobs rely on them; they follow sysexits.h
//! where it has a word for the case.

use driver::java::JavaError;
use driver::process::ProcessError;
use driver::run::RunError;

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
        let of_process = error.downcast_ref::<ProcessError>();
        let code = match (error.downcast_ref::<RunError>(), of_process) {
            (Some(RunError::UnusableJava { .. }), _) => NO_JAVA,
            (Some(RunError::Process(ProcessError::Input { .. })), _)
            | (_, Some(ProcessError::Input { .. })) => USAGE,
            _ if error.is::<JavaError>() => NO_JAVA,
            _ => TOOL_FAILED,
        };
        Failure { code, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_are_not_ours_have_codes_of_their_own() {
        let unusable = RunError::UnusableJava {
            java: "/j/bin/java".into(),
            version: "25".into(),
            why: "this JDK's classes are not as expected".into(),
        };
        assert_eq!(Failure::from(unusable).code, NO_JAVA);
        let input = || ProcessError::Input {
            path: "nowhere".into(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        assert_eq!(Failure::from(input()).code, USAGE);
        let failure = Failure::from(RunError::Process(input()));
        assert_eq!(failure.code, USAGE);
        let text = format!("{:#}", failure.error);
        assert_eq!(text.matches("not found").count(), 1, "{text}");
        let ours = RunError::Agent("no memory".into());
        assert_eq!(Failure::from(ours).code, TOOL_FAILED);
    }
}
