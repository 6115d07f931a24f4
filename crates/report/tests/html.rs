//! The page as text: whole, inert, and the same data as the report. What it
//! does in a browser is for `browser`.

mod common;

use common::{Everything, HOSTILE, full, hostile};
use findings::result::Report;
use report::html;
use report::terminal::NoSources;
use report::timeline::Timelines;
use serde_json::Value;

fn page(report: &Report, timelines: &Timelines) -> String {
    let mut out = Vec::new();
    html::write(report, &Everything, timelines, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What lies between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"data\">", "</script>")).unwrap()
}

#[test]
fn the_page_has_the_report_its_schedules_and_sources() {
    let (report, timelines) = full();
    let data = data(&page(&report, &timelines));
    assert_eq!(data["report"], serde_json::to_value(&report).unwrap());
    let names: Vec<&String> = data["schedules"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["A1.witness", "R1.exception", "R1.ok", "R2.witness"]);
    assert!(data["sources"]["Figure1.java"]["lines"]["18"].is_string());
    // `z` in `    z = line18;`
    assert_eq!(data["carets"]["R1"], serde_json::json!([[4, 1], [4, 1]]));
}

#[test]
fn steps_of_a_witness_find_their_source_in_packages() {
    let (mut report, timelines) = full();
    let step = |class: &str, at: &str| {
        let step = serde_json::json!({
            "thread": "a", "thread_id": 1, "events": 1, "last": "write", "at": at,
            "class": class, "method": "m",
        });
        serde_json::from_value(step).unwrap()
    };
    let witness = [
        step("com.shop.Bank$1", "Bank.java:40"),
        step("Plain", "Plain.java:5"),
    ];
    report.races[1].witness = Some(witness.to_vec());
    let data = data(&page(&report, &timelines));
    let sources = &data["sources"];
    assert!(sources["com/shop/Bank.java"]["lines"]["40"].is_string());
    assert!(sources["Plain.java"]["lines"]["5"].is_string());
    assert!(sources["Bank.java"]["lines"]["40"].is_null());
    let places = &data["schedules"]["R2.witness"]["places"];
    assert_eq!(places[0]["class"], "com.shop.Bank$1");
}

#[test]
fn nothing_hostile_gets_out_of_the_data() {
    let (report, timelines) = hostile();
    let page = page(&report, &timelines);
    assert_eq!(
        data(&page)["report"],
        serde_json::to_value(&report).unwrap()
    );
    // Besides the data, the page is the same whatever the report says.
    let without = |page: &str| {
        let (start, rest) = page.split_once("id=\"data\">").unwrap();
        format!("{start}{}", rest.split_once("</script>").unwrap().1)
    };
    let mut plain = Vec::new();
    let (report, _) = full();
    html::write(&report, &NoSources, &Timelines::new(), &mut plain).unwrap();
    assert_eq!(without(&page), without(&String::from_utf8(plain).unwrap()));
    assert!(!page.contains(HOSTILE));
}

#[test]
fn it_asks_for_nothing_from_anywhere() {
    let (report, timelines) = full();
    let mut out = Vec::new();
    html::write(&report, &NoSources, &timelines, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    for reference in [
        "http:",
        "https:",
        "src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttp",
        "innerHTML",
        "eval(",
    ] {
        assert!(!rest.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("unsafe-inline"));
}

#[test]
fn a_long_schedule_is_cut_to_a_page_that_loads() {
    use schedule::Kind;
    let (report, _) = full();
    let entries = (0..200_000).map(|n| common::step(n % 3, Kind::AtomicWrite, 1, 5));
    let long = report::timeline::Timeline::of_log(&common::log(entries.collect()));
    let page = page(&report, &Timelines::from([("R1.ok".to_owned(), long)]));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    assert!(page.contains("steps are left out here"));
}
