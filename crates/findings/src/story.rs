//! What happened, in a few lines: the shortest run that shows a finding.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// What one thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryLine {
    /// Its name.
    pub thread: String,
    /// What it did, in the program's names: `reads Courier.line (a Line)`.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Results of versions before 0.2 have something else under this name.
pub(crate) fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<StoryLine>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_older_versions_wrote_is_no_story() {
        #[derive(Deserialize)]
        struct Told {
            #[serde(default, deserialize_with = "lenient")]
            story: Vec<StoryLine>,
        }
        let read = |text: &str| serde_json::from_str::<Told>(text).unwrap().story;
        assert!(read("{}").is_empty());
        assert!(read(r#"{"story":{"source":"a","manifest":"b"}}"#).is_empty());
        let told = read(r#"{"story":[{"thread":"t","text":"reads A.f"}]}"#);
        assert_eq!(told[0].text, "reads A.f");
    }
}
