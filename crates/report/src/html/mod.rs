//! One page that shows a result: findings with both accesses in their source,
//! and the schedules that were kept as timelines to step through. It needs
//! nothing besides itself: no network, no other file.
//!
//! Everything in a result comes from the program under test and may be hostile.
//! It goes into the page as JSON inside a data block in which nothing can end
//! the block (`embedded`), the script shows it as text only, and a content
//! security policy lets no script run but this one, which it names by its hash.

mod data;

use crate::terminal::Sources;
use crate::timeline::Timelines;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use findings::result::Report;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

/// In the order in which they build on each other.
const SCRIPTS: [&str; 5] = [
    include_str!("dom.js"),
    include_str!("source.js"),
    include_str!("timeline.js"),
    include_str!("finding.js"),
    include_str!("page.js"),
];

/// Writes the page.
pub fn write(
    report: &Report,
    sources: &dyn Sources,
    timelines: &Timelines,
    mut out: impl Write,
) -> io::Result<()> {
    let script = format!("\"use strict\";\n{}", SCRIPTS.concat());
    let data = embedded(&data::Data::new(report, sources, timelines))?;
    write!(
        out,
        "<!DOCTYPE html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src '{script_hash}'; style-src '{style_hash}'; img-src data:; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>Photofinish</title>\n\
         <style>{STYLE}</style>\n\
         </head>\n\
         <body>\n\
         <noscript>This page needs its script to show anything.</noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{script}</script>\n\
         </body>\n\
         </html>\n",
        script_hash = hash(&script),
        style_hash = hash(STYLE),
    )?;
    out.flush()
}

/// JSON in which nothing means anything to HTML: a `<` could end the script
/// element or open a comment, and U+2028 and U+2029 end lines.
fn embedded(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text += &format!("\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    Ok(text)
}

/// As a content security policy names a script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_policy_can_name_the_scripts() {
        for text in SCRIPTS.iter().chain([&STYLE]) {
            // The browser hashes what it reads, and it reads CRLF as LF.
            assert!(!text.contains('\r') && !text.contains("</"));
        }
    }

    proptest! {
        #[test]
        fn what_is_embedded_is_inert_and_reads_back(text in any::<String>()) {
            for text in [text.clone(), format!("</script><!--{text}\u{2028}]]>")] {
                let inert = embedded(&text).unwrap();
                let live = ['<', '>', '&', '\u{2028}', '\u{2029}'];
                prop_assert!(!inert.contains(live), "{}", inert);
                prop_assert_eq!(serde_json::from_str::<String>(&inert).unwrap(), text);
            }
        }
    }
}
