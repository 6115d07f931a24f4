//! The tests of a class directory, each a program of its own: JUnit 5's console launcher with one
//! method selected. A method counts as a test by its annotations; annotations that are tests by
//! an annotation of their own are not followed.

use crate::error::Error;
use classfile::{ClassFile, Member, acc};
use std::path::{Path, PathBuf};

/// What makes a method a test.
const TESTS: [&str; 5] = [
    "org/junit/jupiter/api/Test",
    "org/junit/jupiter/api/RepeatedTest",
    "org/junit/jupiter/api/TestFactory",
    "org/junit/jupiter/api/TestTemplate",
    "org/junit/jupiter/params/ParameterizedTest",
];

/// Tests that are not run.
const DISABLED: &str = "org/junit/jupiter/api/Disabled";

pub const LAUNCHER: &str = "org.junit.platform.console.ConsoleLauncher";

/// A test method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// `com.shop.BankTest#deposit`, as the launcher selects it; with the types of its parameters.
    pub name: String,
}

impl Test {
    /// What follows `java`, given what precedes the main class.
    pub fn args(&self, options: &[String]) -> Vec<String> {
        let mut args = options.to_vec();
        let rest = [
            "execute",
            "--disable-banner",
            "--details=none",
            "--disable-ansi-colors",
        ];
        args.push(LAUNCHER.to_owned());
        args.extend(rest.map(str::to_owned));
        args.push(format!("--select-method={}", self.name));
        args
    }
}

/// The tests of all classes below a directory, in the order of their names. What is no class
/// file that can be read is left out.
pub fn tests(dir: &Path) -> Result<Vec<Test>, Error> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        let reading = || format!("cannot read {}", dir.display());
        for entry in std::fs::read_dir(&dir).map_err(Error::io(reading()))? {
            let entry = entry.map_err(Error::io(reading()))?;
            let path: PathBuf = entry.path();
            let kind = entry.file_type().map_err(Error::io(reading()))?;
            if kind.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                let bytes = std::fs::read(&path);
                let bytes = bytes.map_err(Error::io(format!("cannot read {}", path.display())))?;
                found.extend(tests_of(&bytes));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The tests of a class.
fn tests_of(bytes: &[u8]) -> Vec<Test> {
    let Ok(class) = ClassFile::parse(bytes) else {
        return Vec::new();
    };
    if class.access & (acc::ABSTRACT | acc::INTERFACE) != 0 {
        return Vec::new();
    }
    let name = class.name().replace('/', ".");
    let is_test = |method: &&Member<'_>| {
        let types = annotations(&class, method);
        let has = |wanted: &str| types.iter().any(|found| found == wanted);
        !method.is(acc::PRIVATE | acc::STATIC | acc::SYNTHETIC)
            && TESTS.iter().any(|test| has(test))
            && !has(DISABLED)
    };
    let methods = class.methods.iter().filter(is_test);
    let named = methods.filter_map(|method| {
        let types = parameters(&class.member_desc(method))?;
        let method = class.member_name(method);
        let types = if types.is_empty() {
            String::new()
        } else {
            format!("({})", types.join(", "))
        };
        Some(Test {
            name: format!("{name}#{method}{types}"),
        })
    });
    named.collect()
}

/// The types of the annotations that a running program sees on a method, with slashes. Of an
/// attribute that cannot be read, those before the damage.
fn annotations<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> Vec<String> {
    let found = class.find_attribute(&method.attributes, "RuntimeVisibleAnnotations");
    let mut rest: &[u8] = found.map(|attribute| &*attribute.data).unwrap_or_default();
    let mut types = Vec::new();
    for _ in 0..word(&mut rest).unwrap_or(0) {
        let kind = word(&mut { rest }).and_then(|index| class.pool.utf8(index));
        let name =
            kind.and_then(|desc| Some(desc.strip_prefix('L')?.strip_suffix(';')?.to_owned()));
        if skip_annotation(&mut rest, 0).is_none() {
            break;
        }
        types.extend(name);
    }
    types
}

/// Nobody nests annotations deeper by hand.
const NESTING: u32 = 32;

fn skip_annotation(rest: &mut &[u8], depth: u32) -> Option<()> {
    word(rest)?;
    for _ in 0..word(rest)? {
        word(rest)?;
        skip_value(rest, depth)?;
    }
    Some(())
}

/// One value of an annotation: constants and classes, names of an enumeration, annotations and
/// arrays of all that (JVMS 4.7.16.1).
fn skip_value(rest: &mut &[u8], depth: u32) -> Option<()> {
    if depth > NESTING {
        return None;
    }
    match rest.split_off_first()? {
        b'e' => rest.split_off(..4).map(drop),
        b'@' => skip_annotation(rest, depth + 1),
        b'[' => {
            for _ in 0..word(rest)? {
                skip_value(rest, depth + 1)?;
            }
            Some(())
        }
        _ => rest.split_off(..2).map(drop),
    }
}

fn word(rest: &mut &[u8]) -> Option<u16> {
    let bytes = rest.split_off(..2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// The parameters of a descriptor as the launcher wants them: `int`, `java.lang.String`, `int[]`.
fn parameters(desc: &str) -> Option<Vec<String>> {
    let mut rest = desc.strip_prefix('(')?;
    let mut types = Vec::new();
    while !rest.starts_with(')') {
        let dimensions = rest.len() - rest.trim_start_matches('[').len();
        rest = &rest[dimensions..];
        let name;
        (name, rest) = match rest.split_at_checked(1)? {
            ("L", more) => {
                let (class, more) = more.split_once(';')?;
                (class.replace('/', "."), more)
            }
            (letter, more) => (primitive(letter)?.to_owned(), more),
        };
        types.push(name + &"[]".repeat(dimensions));
    }
    Some(types)
}

fn primitive(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_as_the_launcher_selects_them() {
        let of = |desc: &str| parameters(desc);
        assert_eq!(of("()V"), Some(vec![]));
        let wanted = ["int", "java.lang.String", "long[][]", "a.B[]"].map(str::to_owned);
        assert_eq!(of("(ILjava/lang/String;[[J[La/B;)V"), Some(wanted.to_vec()));
        for bad in ["", "V", "(", "(L", "(Lx", "([", "(Q)V"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_class_or_none(bytes in any::<Vec<u8>>(), text in any::<String>()) {
            prop_assert_eq!(tests_of(&bytes), vec![]);
            let _ = parameters(&text);
        }
    }
}
