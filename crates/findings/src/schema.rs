//! The JSON schema of a report, generated from its types: `docs/report.schema.json`.
//! It describes what this version writes; members that it does not name may be
//! added at any time, so nothing in it is closed. After a
//! change of the types: `PHOTOFINISH_GOLDEN=1 cargo test -p photofinish-report`.

use crate::result::{Report, SCHEMA};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema of what `--json` writes.
pub fn report() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Report>();
    schema.insert(
        "title".to_owned(),
        format!("A result of photofinish, schema {}", SCHEMA).into(),
    );
    let about = "What --json writes; docs/report.md explains the members. Members that are not \
                 named here may be added at any time.";
    schema.insert("description".to_owned(), about.into());
    schema.to_value()
}

/// What is claimed of a race comes with its evidence: a schedule to replay, the trials
/// that it happened in, or an interleaving.
pub(crate) fn evidence(race: &mut Schema) {
    let status = |word: &str| json!({ "properties": { "status": { "const": word } } });
    let rules = json!([
        // The workers of a campaign keep no directory to replay from.
        {
            "if": status("confirmed"),
            "then": { "anyOf": [{ "required": ["replay"] }, { "required": ["trials"] }] },
        },
        {
            "if": status("predicted"),
            "then": {
                "required": ["witness"],
                "properties": { "witness": { "type": "array", "minItems": 2 } },
            },
        },
    ]);
    race.insert("allOf".to_owned(), rules);
}
