//! Java sources, to show a finding with its lines.

/// Where source lines come from.
pub trait Sources: std::fmt::Debug {
    /// The path to show and the text of the line, if the file can be found.
    /// `class` is the binary name, `file` the bare name from the class file.
    fn line(&self, class: &str, file: &str, line: u32) -> Option<(String, String)>;
}

/// No sources at hand.
#[derive(Debug)]
pub struct NoSources;

impl Sources for NoSources {
    fn line(&self, _: &str, _: &str, _: u32) -> Option<(String, String)> {
        None
    }
}
