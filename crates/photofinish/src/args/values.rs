//! Values of options that are more than a word: places, fields, patterns, ranges, times.

use driver::options::Statement;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Anything but nothing.
pub fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty, and would match nothing".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A pattern of the names of classes, packages or methods.
pub fn pattern(text: &str) -> Result<String, String> {
    let pattern = name(text)?;
    match pattern.contains(char::is_whitespace) {
        true => Err("Java names have no spaces; separate patterns by commas".to_owned()),
        false => Ok(pattern),
    }
}

/// A directory that is there.
pub fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err("it is no directory".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// `com.shop.Bank.total`.
pub fn field(text: &str) -> Result<String, String> {
    match text.trim().rsplit_once('.') {
        Some((class, name)) if !class.is_empty() && !name.is_empty() => Ok(text.trim().to_owned()),
        _ => Err("write Class.field, such as com.shop.Bank.total".to_owned()),
    }
}

/// `A.java:12,B.java:40`.
pub fn pair(text: &str) -> Result<[Statement; 2], String> {
    let both = text.split_once(',');
    let (a, b) = both.ok_or("write two places, such as Bank.java:12,Audit.java:40")?;
    Ok([a.trim().parse()?, b.trim().parse()?])
}

/// `10..20`, `..20`, `10..`; the end is not included.
pub fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text
        .split_once("..")
        .ok_or("write FROM..TO, such as 1000..2000")?;
    let number = |text: &str, otherwise: u64| match text {
        "" => Ok(otherwise),
        text => text.parse().map_err(|_| format!("{text:?} is no number")),
    };
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.is_empty() {
        Err("the range is empty".into())
    } else {
        Ok(range)
    }
}

/// Seconds, or a number with s, m or h.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{unit:?} is no unit; write 90s, 2m or 1h")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{number:?} is no number"))?;
    match Duration::try_from_secs_f64(number * scale) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("the time must be positive, and not for ever".into()),
    }
}

/// Where a run is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopAfter {
    Time(Duration),
    Requests(u64),
    /// When a line contains this.
    Printed(String),
}

/// `10m`, `1000-requests`, or a text: which of them can be told by its form. A time has a unit
/// here, and a text that looks like one is written with a star: `*10m`.
pub fn stop_after(text: &str) -> Result<StopAfter, String> {
    let number = ["-requests", "-request"]
        .iter()
        .find_map(|end| text.strip_suffix(end));
    if let Some(number) = number.filter(|n| is_number(n)) {
        return match number.parse() {
            Ok(0) => Err("of no request there is no end".into()),
            Ok(many) => Ok(StopAfter::Requests(many)),
            Err(_) => Err(format!("{number} is no number of requests")),
        };
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_time = digits != text && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    match text {
        _ if is_time && !digits.is_empty() => match duration(text) {
            Ok(time) => Ok(StopAfter::Time(time)),
            Err(why) => Err(format!(
                "{why}; a text that looks like a time is written *{text}"
            )),
        },
        _ if text.chars().all(|c| c == '*' || c.is_whitespace()) => {
            Err("every line contains that: name a text, a time or a number of requests".into())
        }
        _ => Ok(StopAfter::Printed(text.to_owned())),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Bytes: `4G`, `500M`, `1.5g`.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let shift = match unit
        .to_ascii_uppercase()
        .trim_end_matches("IB")
        .trim_end_matches('B')
    {
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("write a size with its unit: 500M or 4G".into()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{number:?} is no number"))?;
    let bytes = number * (1u64 << shift) as f64;
    // Below this there is no room for the tool itself.
    match bytes {
        bytes if (128.0 * 1024.0 * 1024.0..=1e18).contains(&bytes) => Ok(bytes as u64),
        _ => Err("it takes 128M at least".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_their_units() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("1.5g"), Ok(3 << 29));
        assert_eq!(size("500MiB"), Ok(500 << 20));
        for no in [
            "", "4", "G", "4X", "-1G", "1M", "NaNG", "infG", "1e30G", "4GG",
        ] {
            assert!(size(no).is_err(), "{no}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "s", "-1", "0", "1d", "inf", "NaN", "1e300h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn where_a_run_ends() {
        let time = |seconds| Ok(StopAfter::Time(Duration::from_secs(seconds)));
        assert_eq!(stop_after("10m"), time(600));
        assert_eq!(stop_after("1.5h"), time(5400));
        assert_eq!(stop_after("1000-requests"), Ok(StopAfter::Requests(1000)));
        assert_eq!(stop_after("1-request"), Ok(StopAfter::Requests(1)));
        for text in ["raced", "90", "*10m", "in 10m", "no-requests", "8080-"] {
            let printed = Ok(StopAfter::Printed(text.to_owned()));
            assert_eq!(stop_after(text), printed, "{text}");
        }
        for bad in [
            "",
            "*",
            " ",
            "0s",
            "3d",
            "0-requests",
            "99999999999999999999-requests",
        ] {
            assert!(stop_after(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(range("3..5"), Ok(3..5));
        assert_eq!(range("..5"), Ok(0..5));
        assert_eq!(range("3.."), Ok(3..u64::MAX));
        for bad in ["", "3", "5..3", "a..", "-1..2", "3..3"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields() {
        assert_eq!(field(" a.B.c "), Ok("a.B.c".to_owned()));
        for bad in ["", "c", ".c", "B."] {
            assert!(field(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pairs() {
        let [a, b] = pair("A.java:1, B.java:2").unwrap();
        assert_eq!(
            (a.to_string(), b.to_string()),
            ("A.java:1".into(), "B.java:2".into())
        );
        for bad in ["", "A.java:1", "A.java:1,", "A,B"] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn patterns_name_something() {
        assert_eq!(pattern(" com.shop.** "), Ok("com.shop.**".to_owned()));
        assert_eq!(pattern("com/shop/Bank"), Ok("com/shop/Bank".to_owned()));
        for bad in ["", " ", "a.B c.D"] {
            assert!(pattern(bad).is_err(), "{bad:?}");
        }
        assert_eq!(name("My App*.jar"), Ok("My App*.jar".to_owned()));
        assert!(name(" ").is_err());
    }

    #[test]
    fn directories_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("A.java");
        std::fs::write(&file, "").unwrap();
        assert_eq!(
            directory(dir.path().to_str().unwrap()),
            Ok(dir.path().into())
        );
        assert!(directory(file.to_str().unwrap()).is_err());
        assert!(directory(dir.path().join("nope").to_str().unwrap()).is_err());
    }
}
