//! The live page in a real browser, against a campaign that is running.

use crate::devtools::{Browser, chromium};
use crate::{PATIENCE, run, spawn, wait};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use test_support::programs::{Program, photofinish, signal};
use test_support::trials::{Trial, skipped, trial};

/// Without a browser the test fails, unless the caller knows that there is none.
pub fn page() -> Trial {
    let name = "page::a_running_campaign_in_a_browser";
    let excused = std::env::var_os("PHOTOFINISH_NO_BROWSER").is_some();
    match chromium() {
        None if excused => skipped(name, "there is no Chromium"),
        program => trial(name, move || {
            let missing = "there is no Chromium; ./test installs one, or set CHROMIUM";
            watched(&program.expect(missing));
        }),
    }
}

/// `campaign watch`, and where it serves its page.
fn watch(results: &str) -> (Child, String) {
    let mut tool = photofinish();
    tool.args([
        "campaign",
        "watch",
        "--listen",
        "127.0.0.1:0",
        "--results",
        results,
    ]);
    let mut child = tool
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let said: Vec<String> = lines.map_while(Result::ok).take(1).collect();
    let url = said
        .first()
        .filter(|line| line.starts_with("http://127.0.0.1:"));
    (child, url.unwrap_or_else(|| panic!("{said:?}")).clone())
}

fn watched(chromium: &Path) {
    let program = Program::own(&["Scripts"]);
    let program: Vec<&str> = program.args.iter().map(String::as_str).collect();
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results");
    let results = results.to_str().unwrap();
    let mut start = vec![
        "start", "--name", "watched", "--batch", "2", "--trials", "2", "--jobs", "1",
    ];
    start.extend(["--campaign-time", "1h", "--results", results, "--"]);
    start.extend(program);
    let log = dir.path().join("log");
    let mut campaign = spawn(&start, None, &log);
    let until = Instant::now() + PATIENCE;
    while run(&["status", "--json", "--results", results], None)
        .1
        .trim()
        == "[]"
    {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(100));
    }
    let (mut watching, url) = watch(results);
    let mut browser = Browser::start(chromium, dir.path());
    browser.screen(1280, 1000, "light");
    browser.open(&url);
    looks(&mut browser);
    resists(&mut browser, &url);
    fits(&mut browser, &url);
    signal("INT", campaign.id());
    // What was found so far is an answer.
    assert_eq!(wait(&mut campaign, "the campaign", &log), Some(66));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let found = browser.evaluate(&format!(
        "document.querySelector({selector:?})?.textContent"
    ));
    found.as_str().unwrap_or_default().to_owned()
}

fn number(browser: &mut Browser, expression: &str) -> f64 {
    browser.evaluate(expression).as_f64().unwrap()
}

/// Waits until an expression is true.
fn until(browser: &mut Browser, expression: &str) {
    let limit = Instant::now() + PATIENCE;
    while browser.evaluate(expression) != Value::Bool(true) {
        assert!(
            Instant::now() < limit,
            "never: {expression}\n{}",
            text(browser, "main")
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Findings come, counters grow and curves are drawn, without anybody loading the page again.
fn looks(browser: &mut Browser) {
    until(
        browser,
        "document.getElementById('link').textContent === 'live'",
    );
    assert_eq!(text(browser, "#state"), "running");
    until(
        browser,
        "[...document.querySelectorAll('#findings tbody tr')].some((r) => r.textContent.includes('Scripts.count'))",
    );
    until(
        browser,
        "document.querySelectorAll('#findings .badge.confirmed').length > 0",
    );
    let done = "parseInt(document.getElementById('facts').textContent.match(/([0-9,]+) of/)[1].replace(',', ''))";
    let before = number(browser, done);
    until(browser, &format!("{done} > {before}"));
    for id in ["curve-findings", "curve-orders"] {
        until(
            browser,
            &format!("document.querySelector('#{id} .curve').getAttribute('d').includes('L')"),
        );
    }
    until(
        browser,
        "document.querySelectorAll('#workers tbody code').length === 1",
    );
    assert!(text(browser, "#programs").contains("Scripts"));
    assert!(text(browser, "#classes").contains("Scripts"));
    // To its timeline.
    let link = browser.evaluate("document.querySelector('#findings a[href*=\"#R\"]').href");
    keep(browser, "campaign");
    let page = browser.evaluate("location.href");
    browser.open(link.as_str().unwrap());
    assert!(
        text(browser, "main h2").contains("Scripts.count"),
        "{}",
        text(browser, "main")
    );
    browser.open(page.as_str().unwrap());
}

/// Names of the program's are text, nothing is asked of others, and other hosts get nothing.
fn resists(browser: &mut Browser, url: &str) {
    until(
        browser,
        "document.querySelector('#findings')?.textContent.includes('</script><img src=x onerror=')",
    );
    until(
        browser,
        "document.querySelector('#findings').textContent.includes('\\\\u{202e}')",
    );
    let strangers = "document.querySelectorAll('img, iframe, object, embed, form, base').length";
    assert_eq!(number(browser, strangers), 0.0);
    assert!(!text(browser, "title").contains("pwned"));
    let wrong: Vec<&Value> = browser
        .events
        .iter()
        .filter(|event| match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let asked = event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default();
                !asked.starts_with(url.trim_end_matches('/')) && !asked.starts_with("data:")
            }
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
            "Runtime.consoleAPICalled" | "Log.entryAdded" => true,
            _ => false,
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let smuggled = "const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s); window.pwned === undefined";
    assert_eq!(browser.evaluate(smuggled), Value::Bool(true));
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut raw = TcpStream::connect(address).unwrap();
    write!(
        raw,
        "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let first = BufReader::new(raw).lines().next().unwrap().unwrap();
    assert!(first.contains("421"), "{first}");
}

fn fits(browser: &mut Browser, url: &str) {
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = browser.evaluate(ground);
    browser.screen(1280, 1000, "dark");
    assert_ne!(browser.evaluate(ground), light);
    keep(browser, "campaign-dark");
    browser.screen(390, 800, "light");
    browser.open(url);
    until(
        browser,
        "document.querySelectorAll('#findings tbody tr').length > 1",
    );
    let wide = number(browser, "document.documentElement.scrollWidth");
    assert!(wide <= 390.0, "{wide} pixels wide");
    keep(browser, "campaign-narrow");
}

/// A picture for people, where they asked for it.
fn keep(browser: &mut Browser, name: &str) {
    use base64::Engine as _;
    let Some(dir) = std::env::var_os("PHOTOFINISH_SCREENSHOTS") else {
        return;
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(browser.picture());
    std::fs::write(Path::new(&dir).join(format!("{name}.png")), bytes.unwrap()).unwrap();
}
