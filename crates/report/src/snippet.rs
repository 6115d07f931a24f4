//! Where in a source line the racing access is.
//!
//! Class files say which line, not which column. The member's name is looked
//! for as a whole word, outside of comments and texts, and not as the name of a
//! method; of several, a write prefers one that is assigned to, a
//! read one that is not. That is a guess good enough to draw a caret under,
//! and is used for nothing else.

use findings::finding::{AccessOp, ArraySource, Location};
use unicode_width::UnicodeWidthStr;

/// The span to underline, in characters of `line`: start and length.
pub fn span(line: &str, location: &Location, op: AccessOp) -> (usize, usize) {
    let chars: Vec<char> = line.chars().collect();
    let code = code_only(&chars);
    let name = match location {
        Location::Field { field, .. } => Some(field.as_str()),
        Location::Array { from, .. } => from.as_ref().map(ArraySource::simple_name),
    };
    let is_array = matches!(location, Location::Array { .. });
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    if let Some(name) = name {
        candidates = words(&code)
            .filter(|&(start, len)| is_word(&code, start, len, name))
            .filter(|&(start, len)| next_char(&code, start + len).0 != Some('('))
            .collect();
    }
    if is_array {
        let indexed = |&(start, len): &(usize, usize)| next_char(&code, start + len).0 == Some('[');
        if !candidates.iter().any(indexed) {
            // Reached through a local variable: anything that is indexed.
            candidates = words(&code).filter(indexed).collect();
        }
        for candidate in &mut candidates {
            candidate.1 = with_brackets(&code, candidate.0 + candidate.1) - candidate.0;
        }
    }
    let writes = |&(start, len): &(usize, usize)| assigned(&code, start, start + len);
    let preferred = match op {
        AccessOp::Write => candidates.iter().find(|c| writes(c).0),
        AccessOp::Read => candidates.iter().find(|c| writes(c).1),
    };
    preferred
        .or(candidates.first())
        .copied()
        .unwrap_or_else(|| whole(&chars))
}

/// A span in columns of a terminal, where some characters are two wide and some have no width.
pub fn columns(line: &str, (start, len): (usize, usize)) -> (usize, usize) {
    let part = |skip, take| -> String { line.chars().skip(skip).take(take).collect() };
    (part(0, start).width(), part(start, len).width())
}

/// The line with blanks in place of comments and of what stands in quotes.
fn code_only(chars: &[char]) -> Vec<char> {
    let mut code = chars.to_vec();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let end = match (c, chars.get(at + 1)) {
            ('"' | '\'', _) => end_of_quote(chars, at),
            ('/', Some('/')) => chars.len(),
            ('/', Some('*')) => {
                let rest = chars.get(at + 2..).unwrap_or_default();
                let close = rest.windows(2).position(|two| two == ['*', '/']);
                close.map_or(chars.len(), |close| at + close + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        code[at..end].fill(' ');
        at = end;
    }
    code
}

/// Behind the quote that ends what begins at `start`, or the end of the line.
fn end_of_quote(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            c if c == chars[start] => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// All identifiers: start and length.
fn words(chars: &[char]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let part = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '$';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + chars.get(at..)?.iter().position(part)?;
        let len = chars.get(start..)?.iter().take_while(|c| part(c)).count();
        at = start + len;
        Some((start, len))
    })
}

fn is_word(chars: &[char], start: usize, len: usize, name: &str) -> bool {
    chars
        .get(start..start + len)
        .is_some_and(|word| word.iter().copied().eq(name.chars()))
}

/// The next character that is no space, and where it is.
fn next_char(chars: &[char], from: usize) -> (Option<char>, usize) {
    let rest = chars.get(from..).unwrap_or_default();
    let skip = rest.iter().take_while(|c| c.is_whitespace()).count();
    (rest.get(skip).copied(), from + skip)
}

/// The end of `name[..][..]`.
fn with_brackets(chars: &[char], from: usize) -> usize {
    let mut end = from;
    while let (Some('['), open) = next_char(chars, end) {
        let mut depth = 0usize;
        let rest = chars.get(open..).unwrap_or_default();
        let close = rest.iter().position(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        match close {
            Some(close) => end = open + close + 1,
            None => return chars.len(),
        }
    }
    end
}

/// Whether what stands at `start..end` is written, and whether it is read.
fn assigned(chars: &[char], start: usize, end: usize) -> (bool, bool) {
    let (_, at) = next_char(chars, end);
    let after: String = chars.get(at..).unwrap_or_default().iter().take(4).collect();
    let before: String = chars
        .get(..start)
        .unwrap_or_default()
        .iter()
        .filter(|c| !c.is_whitespace())
        .collect();
    if after.starts_with("++")
        || after.starts_with("--")
        || before.ends_with("++")
        || before.ends_with("--")
    {
        return (true, true);
    }
    let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let assigns = operator.starts_with('=') && !operator.starts_with("==");
    // `<=` and `>=` compare; `<<=` and `>>=` assign.
    let compares = after.starts_with("<=") || after.starts_with(">=") || after.starts_with("==");
    match (assigns && !compares, operator.len() == after.len()) {
        (true, plain) => (true, !plain),
        (false, _) => (false, true),
    }
}

/// Everything but the indentation.
fn whole(chars: &[char]) -> (usize, usize) {
    let start = chars.iter().take_while(|c| c.is_whitespace()).count();
    let end = chars
        .iter()
        .rposition(|c| !c.is_whitespace())
        .map_or(start, |last| last + 1);
    (start, end.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field(name: &str) -> Location {
        Location::Field {
            class: "C".into(),
            field: name.into(),
            is_static: false,
            jdk: None,
        }
    }

    fn array(from: Option<&str>) -> Location {
        Location::Array {
            array: "int[]".into(),
            index: None,
            from: from.map(Into::into),
            jdk: None,
            allocated: None,
        }
    }

    fn marked(line: &str, location: &Location, op: AccessOp) -> String {
        let (start, len) = span(line, location, op);
        line.chars().skip(start).take(len).collect()
    }

    #[test]
    fn the_assigned_one_for_writes_the_other_for_reads() {
        let line = "  total = total + subtotal;";
        assert_eq!(span(line, &field("total"), AccessOp::Write), (2, 5));
        assert_eq!(span(line, &field("total"), AccessOp::Read), (10, 5));
        assert_eq!(span("x.n += n.n;", &field("n"), AccessOp::Write), (2, 1));
        assert_eq!(
            span("if (n == 3) n = 2;", &field("n"), AccessOp::Write),
            (12, 1)
        );
        assert_eq!(
            span("if (n <= 3) n <<= 2;", &field("n"), AccessOp::Write),
            (12, 1)
        );
        assert_eq!(span("n = 1; m(--n);", &field("n"), AccessOp::Read), (11, 1));
    }

    #[test]
    fn comments_texts_and_methods_are_no_accesses() {
        let line = r#"log("n: \" " + n(n) /* n */ + n);  // n"#;
        assert_eq!(span(line, &field("n"), AccessOp::Read), (17, 1));
        assert_eq!(
            span("c = 'n'; x = n;", &field("n"), AccessOp::Read),
            (13, 1)
        );
        let line = "/* n */ n = 1; /* n";
        assert_eq!(span(line, &field("n"), AccessOp::Write), (8, 1));
        assert_eq!(marked("  \"n", &field("n"), AccessOp::Read), "\"n");
        assert_eq!(marked("  \"n\\", &field("n"), AccessOp::Read), "\"n\\");
    }

    #[test]
    fn arrays_take_their_brackets_along() {
        let line = "  table[i + at[0]][2] = local[i];";
        assert_eq!(
            marked(line, &array(Some("C.table")), AccessOp::Write),
            "table[i + at[0]][2]"
        );
        assert_eq!(marked(line, &array(None), AccessOp::Read), "at[0]");
        assert_eq!(
            marked("a[1] = 2;", &array(Some("C.table")), AccessOp::Write),
            "a[1]"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("int a = b;", (8, 1)), (8, 1));
        assert_eq!(columns("f(\"\u{4e16}\u{754c}\") + b", (9, 1)), (11, 1));
        assert_eq!(columns("e\u{301} = \u{4e16};", (5, 1)), (4, 2));
    }

    #[test]
    fn without_a_name_the_statement() {
        assert_eq!(
            marked("   list.add(x);  ", &field("size"), AccessOp::Write),
            "list.add(x);"
        );
        assert_eq!(span("", &field("x"), AccessOp::Read), (0, 0));
    }

    proptest! {
        #[test]
        fn always_within_the_line(
            line in "[ a-c\\[\\]=+<>.;\"'*/(\\\\-]{0,30}",
            from in proptest::option::of("[a-c.]{0,3}"),
            write in any::<bool>(),
        ) {
            let op = if write { AccessOp::Write } else { AccessOp::Read };
            for location in [field("a"), array(from.as_deref())] {
                let (start, len) = span(&line, &location, op);
                prop_assert!(start + len <= line.chars().count());
            }
        }
    }
}
