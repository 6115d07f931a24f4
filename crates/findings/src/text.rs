//! Names, messages and source lines come from the program under test, which
//! may be hostile: nothing of theirs may move the cursor, change colours or
//! reorder what the reader sees.

/// Longer than any name that is read rather than skipped.
const LONGEST: usize = 240;

/// `1 run`, `3 runs`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The text with everything that is not plainly visible written as an escape,
/// cut to a readable length.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        if invisible(c) {
            out.extend(c.escape_unicode())
        } else {
            out.push(c)
        }
    }
    out
}

/// The same for a message of several lines, which is not cut: what it ends with matters most.
pub fn clean_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A source line: as [`clean`], with tabs as four spaces so that carets line
/// up.
pub fn clean_line(line: &str) -> String {
    clean(&line.trim_end().replace('\t', "    "))
}

fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Zero width, line and paragraph separators, direction marks and
            // overrides, byte-order mark, tag characters.
            '\u{00ad}' | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terminal_tricks_are_spelled_out() {
        assert_eq!(clean("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(clean("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(clean("Überweisung"), "Überweisung");
        assert_eq!(clean_line("\tx;\r\n"), "    x;");
    }

    proptest! {
        #[test]
        fn nothing_invisible_gets_through(text in any::<String>()) {
            let shown = clean(&text);
            prop_assert!(!shown.chars().any(invisible));
            prop_assert!(shown.chars().count() <= LONGEST * 10 + 1);
        }
    }
}
