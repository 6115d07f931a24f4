//! Why there is no result: a few kinds of errors, each with a chain of texts
//! that says what was being done.

use driver::java::JavaError;
use driver::process::ProcessError;
use driver::run::RunError;
use driver::store::StoreError;
use std::fmt::{self, Display};

/// Any error underneath.
type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no result. The kind says whose it is to mend.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense, or a file that was named is of no use.
    #[error(transparent)]
    Usage(Cause),
    /// There is no Java, or one that the agent cannot run in.
    #[error(transparent)]
    NoJava(Cause),
    /// The tool failed.
    #[error(transparent)]
    ToolFailed(Cause),
}

/// What was being done, and what went wrong then. `{}` shows the former, `{:#}`
/// the whole chain.
#[derive(Debug)]
pub struct Cause {
    text: String,
    source: Option<Source>,
}

impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if f.alternate() {
            let mut next = std::error::Error::source(self);
            while let Some(error) = next {
                write!(f, ": {error}")?;
                next = error.source();
            }
        }
        Ok(())
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl Cause {
    /// An error that speaks for itself.
    fn new(error: impl std::error::Error) -> Cause {
        // Its own text, and those below it: it need not live as long as this does.
        let mut source: Option<Source> = None;
        let mut below: Vec<String> = Vec::new();
        let mut next = error.source();
        while let Some(error) = next {
            below.push(error.to_string());
            next = error.source();
        }
        for text in below.into_iter().rev() {
            source = Some(Box::new(Cause { text, source }));
        }
        Cause {
            text: error.to_string(),
            source,
        }
    }
}

impl Error {
    /// What was asked for makes no sense.
    pub fn usage(text: impl Into<String>) -> Error {
        Error::Usage(Cause {
            text: text.into(),
            source: None,
        })
    }

    /// The tool failed, and there is no error underneath.
    pub fn tool_failed(text: impl Into<String>) -> Error {
        Error::ToolFailed(Cause {
            text: text.into(),
            source: None,
        })
    }

    /// The same, as something that the caller has to mend.
    #[must_use]
    pub fn into_usage(self) -> Error {
        Error::Usage(self.into_cause())
    }

    /// The same, with what was being done put before it.
    #[must_use]
    pub fn context(self, text: impl Display) -> Error {
        let kind = match self {
            Error::Usage(_) => Error::Usage,
            Error::NoJava(_) => Error::NoJava,
            Error::ToolFailed(_) => Error::ToolFailed,
        };
        kind(Cause {
            text: text.to_string(),
            source: Some(Box::new(self.into_cause())),
        })
    }

    fn into_cause(self) -> Cause {
        match self {
            Error::Usage(cause) | Error::NoJava(cause) | Error::ToolFailed(cause) => cause,
        }
    }
}

/// Says what was being done when something went wrong.
pub trait Context<T> {
    /// This text, before the error's own.
    fn context(self, text: impl Display) -> Result<T, Error>;

    /// The same, with a text that is made only if it is needed.
    fn with_context<D: Display>(self, text: impl FnOnce() -> D) -> Result<T, Error>;

    /// Whatever went wrong, the caller has to mend it.
    fn or_usage(self) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, text: impl Display) -> Result<T, Error> {
        self.map_err(|error| error.into().context(text))
    }

    fn with_context<D: Display>(self, text: impl FnOnce() -> D) -> Result<T, Error> {
        self.map_err(|error| error.into().context(text()))
    }

    fn or_usage(self) -> Result<T, Error> {
        self.map_err(|error| error.into().into_usage())
    }
}

impl From<JavaError> for Error {
    fn from(error: JavaError) -> Error {
        Error::NoJava(Cause::new(error))
    }
}

impl From<ProcessError> for Error {
    fn from(error: ProcessError) -> Error {
        match error {
            ProcessError::Input { .. } => Error::Usage(Cause::new(error)),
            _ => Error::ToolFailed(Cause::new(error)),
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::UnusableJava { .. } => Error::NoJava(Cause::new(error)),
            RunError::Process(ProcessError::Input { .. }) | RunError::NoProgram(_) => {
                Error::Usage(Cause::new(error))
            }
            _ => Error::ToolFailed(Cause::new(error)),
        }
    }
}

/// Errors that are nobody's but the tool's, unless somebody knows better.
macro_rules! tool_failed {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::ToolFailed(Cause::new(error))
            }
        })*
    };
}

tool_failed!(
    std::io::Error,
    serde_json::Error,
    StoreError,
    trace::Error,
    driver::library::UnpackError,
    explore::Error,
    trace::std_text::StdError,
    retrace::BadLine,
    findings::result::ReadError,
    predict::property::ParseError,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_are_not_ours_have_kinds_of_their_own() {
        let unusable = RunError::UnusableJava {
            java: "/j/bin/java".into(),
            version: "25".into(),
            why: "this JDK's classes are not as expected".into(),
        };
        assert!(matches!(Error::from(unusable), Error::NoJava(_)));
        let input = || ProcessError::Input {
            path: "nowhere".into(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        assert!(matches!(Error::from(input()), Error::Usage(_)));
        let error = Error::from(RunError::Process(input()));
        assert!(matches!(error, Error::Usage(_)));
        let text = format!("{error:#}");
        assert_eq!(text.matches("not found").count(), 1, "{text}");
        let ours = RunError::Agent("no memory".into());
        assert!(matches!(Error::from(ours), Error::ToolFailed(_)));
    }

    #[test]
    fn contexts_keep_the_kind_and_come_first() {
        let gone: Result<(), _> = Err(std::io::Error::other("gone"));
        let error = gone.context("cannot read it").or_usage().unwrap_err();
        let error = error.context("nothing was done");
        assert!(matches!(error, Error::Usage(_)));
        assert_eq!(error.to_string(), "nothing was done");
        assert_eq!(
            format!("{error:#}"),
            "nothing was done: cannot read it: gone"
        );
    }
}
