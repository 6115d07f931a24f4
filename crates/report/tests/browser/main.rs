//! The page in a real browser: it opens from a file, asks for nothing, complains
//! of nothing, can be worked with the keyboard, fits a telephone, and runs no
//! code that the names of threads contain.
//!
//! Needs Chromium, which `./test` installs. `PHOTOFINISH_SCREENSHOTS=DIR` keeps
//! pictures to look at.

#[path = "../common/mod.rs"]
mod common;
mod devtools;

use common::{Everything, full, hostile};
use devtools::{Browser, chromium};
use findings::result::Report;
use report::html;
use report::timeline::Timelines;
use serde_json::{Value, json};
use std::path::Path;
use test_support::trials::{self, skipped, trial};

/// The page in a file; its address.
fn write(dir: &Path, name: &str, (report, timelines): &(Report, Timelines)) -> String {
    let path = dir.join(name);
    let file = std::fs::File::create(&path).unwrap();
    html::write(report, &Everything, timelines, file).unwrap();
    format!("file://{}", path.display())
}

/// Without a browser the test fails, unless the caller knows that there is none.
fn main() {
    let name = "the_page_works_in_a_browser";
    let excused = std::env::var_os("PHOTOFINISH_NO_BROWSER").is_some();
    trials::run(vec![match chromium() {
        None if excused => skipped(name, "there is no Chromium"),
        program => trial(name, move || {
            let missing = "there is no Chromium; ./test installs one, or set CHROMIUM";
            the_page_works(&program.expect(missing));
        }),
    }]);
}

/// All in one test: a browser takes seconds to start.
fn the_page_works(program: &Path) {
    let home = tempfile::tempdir().unwrap();
    let mut browser = Browser::start(program, home.path());
    let plain = write(home.path(), "plain.html", &full());
    opens(&mut browser, &plain);
    steps(&mut browser, &plain);
    finds(&mut browser, &plain);
    fits(&mut browser, &plain);
    let bad = write(home.path(), "hostile.html", &hostile());
    resists(&mut browser, &bad);
}

/// The text of the first element that a selector finds.
fn text(browser: &mut Browser, selector: &str) -> String {
    let found = browser.evaluate(&format!(
        "document.querySelector({selector:?})?.textContent"
    ));
    found.as_str().unwrap_or_default().to_owned()
}

fn number(browser: &mut Browser, expression: &str) -> f64 {
    browser.evaluate(expression).as_f64().unwrap()
}

fn opens(browser: &mut Browser, page: &str) {
    browser.screen(1280, 1000, "light");
    browser.open(page);
    assert_eq!(text(browser, "h1"), "Photofinish");
    // The strongest race first, with both accesses in their source.
    assert!(text(browser, "main h2").contains("Figure1.z"));
    assert_eq!(
        number(browser, "document.querySelectorAll('.access').length"),
        2.0
    );
    assert_eq!(text(browser, ".access mark"), "z");
    assert!(text(browser, ".advice").contains("make Figure1.z volatile"));
    assert!(text(browser, ".diff .added").contains("volatile"));
    keep(browser, "light");
}

fn steps(browser: &mut Browser, page: &str) {
    browser.open(page);
    // It begins where the two meet: row 9, step 7.
    assert_eq!(text(browser, ".counter"), "row 9 of 16");
    assert!(text(browser, ".moment").contains("thread \"thread2\" goes first"));
    assert!(text(browser, ".moment").contains("Figure1.java:23"));
    // Nothing has the focus, and keys work.
    for (key, row) in [
        ("j", 10),
        ("k", 9),
        ("ArrowLeft", 8),
        ("r", 9),
        ("ArrowRight", 10),
        ("ArrowLeft", 9),
    ] {
        browser.press(key);
        assert_eq!(
            text(browser, ".counter"),
            format!("row {row} of 16"),
            "{key}"
        );
    }
    // With the focus in the timeline, arrows step and do not scroll the page.
    browser.evaluate("document.querySelector('.view').focus()");
    for (key, row) in [
        ("ArrowUp", 8),
        ("Home", 1),
        ("ArrowUp", 1),
        ("End", 16),
        ("ArrowDown", 16),
    ] {
        browser.press(key);
        assert_eq!(
            text(browser, ".counter"),
            format!("row {row} of 16"),
            "{key}"
        );
    }
    // Drawn are lanes, the meeting, and one arrow for each way of ordering.
    browser.press("r");
    let drawn = |what: &str| format!("document.querySelectorAll('.picture {what}').length");
    for (what, many) in [
        (".life", 3.0),
        (".meet", 1.0),
        (".edge", 3.0),
        (".waiting", 1.0),
    ] {
        assert_eq!(number(browser, &drawn(what)), many, "{what}");
    }
    let height = "document.querySelector('.picture').getBoundingClientRect().height";
    let before = number(browser, height);
    browser.press("+");
    assert!(number(browser, height) > before);
    browser.press("-");
    browser.press("-");
    assert!(number(browser, height) < before);
    // A click steps too.
    browser.evaluate(
        "document.querySelector('.jump') || document.querySelector('.tools button').click()",
    );
    browser.evaluate("document.querySelector('.tools button').click()");
    assert_eq!(text(browser, ".counter"), "row 1 of 16");
    let wrong = browser.complaints();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every finding, and the filter.
fn finds(browser: &mut Browser, page: &str) {
    browser.open(page);
    let all = number(browser, "document.querySelectorAll('.item').length");
    assert!(all > 7.0, "{all}");
    visit_all(browser, all);
    browser.press("/");
    for key in ["b", "a", "n", "k"] {
        browser.press(key);
    }
    // The violation of atomicity, and what was covered.
    assert_eq!(
        number(browser, "document.querySelectorAll('.item').length"),
        2.0
    );
    browser.press("Escape");
    browser.evaluate("document.querySelector('input').value = ''");
    browser.evaluate("document.querySelector('.chip.confirmed').click()");
    let left = number(browser, "document.querySelectorAll('.item').length");
    assert!(left < all);
    let wrong = browser.complaints();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn visit_all(browser: &mut Browser, all: f64) {
    let mut seen = vec![text(browser, "main h2")];
    for _ in 1..all as usize {
        browser.press("n");
        seen.push(text(browser, "main h2"));
    }
    let last = seen.last().unwrap();
    assert_eq!(last, "What was covered", "{seen:?}");
    let known: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(known.len(), seen.len(), "{seen:?}");
}

fn fits(browser: &mut Browser, page: &str) {
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = browser.evaluate(ground);
    browser.screen(1280, 1000, "dark");
    browser.open(page);
    assert_ne!(browser.evaluate(ground), light);
    keep(browser, "dark");
    // The button outranks what the system says.
    browser.evaluate("document.querySelector('.theme').click()");
    assert_eq!(browser.evaluate(ground), light);
    browser.evaluate("localStorage.clear()");

    browser.screen(375, 800, "light");
    browser.open(page);
    let wide = number(browser, "document.documentElement.scrollWidth");
    assert!(wide <= 375.0, "{wide} pixels wide");
    keep(browser, "narrow");
    browser.evaluate("document.querySelector('.timeline').scrollIntoView()");
    browser.drawn();
    keep(browser, "narrow-timeline");
    browser.screen(1280, 1000, "light");
}

fn resists(browser: &mut Browser, page: &str) {
    browser.open(page);
    let all = number(browser, "document.querySelectorAll('.item').length");
    visit_all(browser, all);
    // Names are shown, spelled out, and are nothing but text.
    browser.open(page);
    assert!(text(browser, "main").contains("</script><img src=x onerror="));
    assert!(text(browser, "main").contains("\\u{202e}"));
    let strangers = "document.querySelectorAll('img, iframe, object, embed, form, base').length";
    assert_eq!(number(browser, strangers), 0.0);
    assert_eq!(
        number(browser, "document.querySelectorAll('script').length"),
        2.0
    );
    let listeners = "[...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length";
    assert_eq!(number(browser, listeners), 0.0);
    keep(browser, "hostile");
    let wrong = browser.complaints();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Were a script to get in after all, the policy would not let it run.
    let smuggled = "const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s); window.pwned === undefined";
    assert_eq!(browser.evaluate(smuggled), json!(true));
    let refused = |event: &&Value| event["method"] == "Log.entryAdded";
    browser.drawn();
    assert!(
        browser.events.iter().any(|e| refused(&e)),
        "the browser says so"
    );
}

/// A picture for people, where they asked for it.
fn keep(browser: &mut Browser, name: &str) {
    let Some(dir) = std::env::var_os("PHOTOFINISH_SCREENSHOTS") else {
        return;
    };
    let bytes = decoded(&browser.picture());
    std::fs::write(Path::new(&dir).join(format!("{name}.png")), bytes).unwrap();
}

fn decoded(base64: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = base64.bytes().filter(|c| *c != b'=').map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0u32, |word, d| word << 6 | u32::from(*d));
        let word = word << (6 * (4 - four.len()));
        word.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}
