//! A JUnit 5 test of a finding. It fails while the bug is there: `Regression` of photofinish-junit5 hands the
//! case and the schedule, which are resources of the test, to `photofinish replay --case`.

use super::{Exported, Finding, Start, comment, literal, told};
use crate::error::{Context, Error};
use std::path::{Path, PathBuf};

/// The directory of the files, below the resources.
const BESIDE: &str = "photofinish";

pub(super) fn write(
    finding: &Finding,
    sources: &Path,
    resources: Option<&Path>,
) -> Result<Exported, Error> {
    let start = Start::of(&finding.program.args).map_err(|why| {
        Error::usage(format!(
            "{} cannot become a test: {why}; a test needs a main class on the class path",
            finding.id
        ))
    })?;
    if finding.program.input.is_some() {
        return Err(Error::usage(format!(
            "{} cannot become a test: the program reads its standard input from a file",
            finding.id
        )));
    }
    let (package, main) = start.main.rsplit_once('.').unwrap_or(("", &start.main));
    let class = format!("{}{}Test", main.replace('$', "_"), finding.id);
    let resources = resources.map_or_else(|| beside(sources), Path::to_owned);
    let folder = resources.join(BESIDE);
    let case = finding.case(format!("{class}.pfs"));
    if case.weak && case.exception.is_none() && case.stuck_in.is_empty() {
        return Err(Error::usage(format!(
            "{} cannot become a test: what an older value leads to is another output, which a repair may change, too",
            finding.id
        )));
    }
    let text =
        serde_json::to_string_pretty(&case).map_err(|e| Error::tool_failed(e.to_string()))?;
    let directory = package.split('.').filter(|p| !p.is_empty());
    let directory = directory.fold(sources.to_owned(), |dir, part| dir.join(part));
    let files = [
        (
            directory.join(format!("{class}.java")),
            source(finding, &start, package, &class).into_bytes(),
        ),
        (
            folder.join(format!("{class}.json")),
            (text + "\n").into_bytes(),
        ),
        (folder.join(format!("{class}.pfs")), finding.log.clone()),
    ];
    for (path, bytes) in &files {
        put(path, bytes)?;
    }
    Ok(Exported {
        files: files.into_iter().map(|(path, _)| path).collect(),
        notes: vec![
            "the test needs photofinish-junit5 as a test dependency (docs/maven.md), and the photofinish tool: from the Maven \
             plugin, -Dphotofinish.binary=, or the PATH"
                .to_owned(),
        ],
    })
}

pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(path, bytes))
        .with_context(|| format!("cannot write {}", path.display()))
        .or_usage()
}

/// `src/test/java` has its resources in `src/test/resources`; any other directory in itself.
fn beside(sources: &Path) -> PathBuf {
    match (sources.file_name(), sources.parent()) {
        (Some(name), Some(parent)) if name == "java" => parent.join("resources"),
        _ => sources.to_owned(),
    }
}

fn source(finding: &Finding, start: &Start, package: &str, class: &str) -> String {
    let package = match package {
        "" => String::new(),
        name => format!("package {name};\n\n"),
    };
    let lines: String = told(&finding.story)
        .iter()
        .map(|line| format!(" *   {line}\n"))
        .collect();
    let story = match lines.as_str() {
        "" => String::new(),
        lines => format!(" *\n * <pre>{{@code\n{lines} * }}</pre>\n"),
    };
    let words = start
        .options
        .iter()
        .chain([&start.main])
        .chain(&start.arguments);
    let program: Vec<String> = words.map(|word| literal(word)).collect();
    format!(
        "{package}import org.junit.jupiter.api.Test;
import org.photofinish.junit5.Regression;

/**
 * {what}
{story} *
 * <p>Written by {tool}. It fails while this happens: the schedule is followed, and where the program was changed so that
 * it cannot be, schedules near it are tried.
 */
class {class} {{
    @Test
    void {name}DoesNotHappen() throws Exception {{
        Regression.check(\"/{BESIDE}/{class}\", {program});
    }}
}}
",
        what = comment(&finding.what).replace('<', "&lt;").replace('@', "&#64;"),
        tool = crate::tool(),
        name = finding.id.to_lowercase(),
        program = program.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_beside_the_sources() {
        assert_eq!(
            beside(Path::new("src/test/java")),
            Path::new("src/test/resources")
        );
        assert_eq!(beside(Path::new("tests")), Path::new("tests"));
    }
}
