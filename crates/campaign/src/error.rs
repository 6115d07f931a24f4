//! Why a campaign cannot go on, or a part of it cannot be used.

/// Why something was not done. The kind says whose it is to mend.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The server is not there, or does not let us in.
    #[error("{0}")]
    Unreachable(String),
    /// There is no such campaign.
    #[error("there is no campaign {0:?}; `photofinish campaign status` lists those that there are")]
    Unknown(String),
    /// A message or a bundle that is not what it should be.
    #[error("{0}")]
    Refused(String),
    #[error("{what}: {source}")]
    Io {
        what: String,
        source: std::io::Error,
    },
}

impl Error {
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let what = what.into();
        move |source| Error::Io { what, source }
    }

    /// What the server answered, in words.
    pub fn server(what: &str) -> impl Fn(&dyn std::error::Error) -> Error + use<'_> {
        move |error| {
            let mut text = format!("{what}: {error}");
            let mut next = error.source();
            while let Some(source) = next {
                let said = source.to_string();
                if !text.ends_with(&said) {
                    text += &format!(": {said}");
                }
                next = source.source();
            }
            Error::Unreachable(text)
        }
    }
}
