//! Names of Java classes.

/// An internal class name (`a/b/C$D`) as stack traces write it: `a.b.C$D`.
pub fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}

/// Whether the pattern means the text; `*` stands for anything.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // Where to go on after the last star, and what it has taken.
    let mut back: Option<(usize, usize)> = None;
    let (mut p, mut t) = (0, 0);
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            back = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, taken)) = back {
            back = Some((after, taken + 1));
            (p, t) = (after, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("**a*", "xxa"),
            ("gradle-*-main-*.jar", "gradle-8-main-x.jar"),
            ("a*b*b", "abb"),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("*a", "ab"), ("a*a", "a"), ("a*b*b", "ab")] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
    }
}
