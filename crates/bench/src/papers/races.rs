//! What a report says, counted as the papers count.

use serde_json::Value;
use std::collections::BTreeSet;

/// All races of a report: a finding may stand for several.
pub fn all(report: &Value) -> Vec<&Value> {
    let list = |value: &'_ Value| value.as_array().map(Vec::len).unwrap_or(0);
    let mut races = Vec::new();
    for i in 0..list(&report["races"]) {
        let race = &report["races"][i];
        races.push(race);
        let members = &race["group"]["members"];
        races.extend((0..list(members)).map(|m| &members[m]));
    }
    races
}

/// Two lines of code, either way round.
pub type Pair = [String; 2];

/// RaceFuzzer counts pairs of statements.
pub fn pair(race: &Value) -> Pair {
    let place = |i: usize| {
        let access = &race["accesses"][i];
        let text = |member: &str| access[member].as_str().unwrap_or("?").to_owned();
        format!("{}.{}:{}", text("class"), text("method"), access["line"])
    };
    let mut pair = [place(0), place(1)];
    pair.sort();
    pair
}

pub fn pairs<'v>(races: impl IntoIterator<Item = &'v Value>) -> BTreeSet<Pair> {
    races.into_iter().map(pair).collect()
}

/// jPredictor and JRF-E count fields, and arrays by where they come from.
pub fn location(race: &Value) -> String {
    let location = &race["location"];
    let text = |member: &str| location[member].as_str().filter(|text| !text.is_empty());
    match (text("class"), text("field"), text("from"), text("array")) {
        (Some(class), Some(field), ..) => format!("{class}.{field}"),
        (_, _, Some(from), _) => format!("{from}[]"),
        (.., Some(array)) => array.to_owned(),
        _ => "?".to_owned(),
    }
}

pub fn is_confirmed(race: &Value) -> bool {
    race["status"] == "confirmed"
}

/// Whether some trial of the race ended in an exception.
pub fn throws(race: &Value) -> bool {
    let outcomes = race["outcomes"].as_array();
    outcomes.is_some_and(|all| all.iter().any(|o| o["result"] == "exception"))
}

/// The part of its trials in which the two statements of a race were brought together: by whatever calls, as
/// RaceFuzzer counts.
pub fn hit_rate(race: &Value) -> Option<f64> {
    let number = |member: &str| race["trials"][member].as_f64();
    let met = number("met").or_else(|| number("hit"))?;
    Some(met / number("run").filter(|run| *run > 0.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn race(status: &str, lines: [u64; 2]) -> Value {
        let access = |line| json!({ "class": "A", "method": "m", "line": line });
        json!({
            "status": status,
            "accesses": [access(lines[0]), access(lines[1])],
            "location": { "class": "A", "field": "f" },
            "trials": { "hit": 1, "run": 4 },
            "outcomes": [{ "result": "ok" }, { "result": "exception" }],
        })
    }

    #[test]
    fn members_of_findings_count_and_orders_do_not() {
        let mut first = race("confirmed", [1, 2]);
        first["group"] =
            json!({ "members": [race("confirmed", [2, 1]), race("potential", [3, 3])] });
        let report = json!({ "races": [first] });
        let all = all(&report);
        assert_eq!(all.len(), 3);
        assert_eq!(pairs(all.iter().copied()).len(), 2);
        let confirmed = all.iter().copied().filter(|race| is_confirmed(race));
        assert_eq!(pairs(confirmed).len(), 1);
        assert_eq!(location(all[0]), "A.f");
        assert_eq!(hit_rate(all[0]), Some(0.25));
        let mut through_others = race("confirmed", [1, 2]);
        through_others["trials"]["met"] = json!(3);
        assert_eq!(hit_rate(&through_others), Some(0.75));
        assert!(throws(all[0]));
    }

    #[test]
    fn arrays_are_named_by_where_they_come_from() {
        let of = |location: Value| location_of(location);
        assert_eq!(of(json!({ "array": "int[]", "from": "A.a" })), "A.a[]");
        assert_eq!(of(json!({ "array": "int[]" })), "int[]");
    }

    fn location_of(value: Value) -> String {
        location(&json!({ "location": value }))
    }
}
