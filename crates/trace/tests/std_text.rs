//! RAPID's STD text in and out.

mod common;

use common::*;
use proptest::prelude::*;
use test_support::exercise::trace_file as exercise;
use trace::std_text::*;
use trace::*;

fn to_binary(text: &str) -> Vec<u8> {
    convert(text.as_bytes(), Strictness::Strict, Vec::new())
        .unwrap()
        .0
}

fn to_text(bytes: &[u8]) -> (String, Exported) {
    let mut text = Vec::new();
    let mut trace = Trace::from_slice(bytes).unwrap();
    let done = export(&mut trace, &mut text).unwrap();
    (String::from_utf8(text).unwrap(), done)
}

/// Text of a run whose locks are taken and given back as locks must be.
fn text(choices: &[(u8, u8, u8, u16)]) -> String {
    let mut holders = [None; 4];
    let mut out = String::new();
    for &(thread, what, which, place) in choices {
        let lock = usize::from(which % 4);
        let action = match what % 10 {
            0..3 => format!("r(V{}.x[{which}])", which % 3),
            3..6 => format!("w(V{}.x[{which}])", which % 3),
            6 if holders[lock].is_none() => {
                holders[lock] = Some(thread);
                format!("acq(lock-number-{lock})")
            }
            6 | 7 if holders[lock] == Some(thread) => {
                holders[lock] = None;
                format!("rel(lock-number-{lock})")
            }
            8 => format!("fork(T{which})"),
            9 => format!("join(T{which})"),
            _ if which % 2 == 0 => "begin".into(),
            _ => "end".into(),
        };
        out += &format!("T{thread}|{action}|{place}\n");
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Through the binary format and back, the order of accesses included.
    #[test]
    fn text_comes_back_as_it_was(choices in prop::collection::vec(
        (0..4u8, any::<u8>(), 0..6u8, 0..300u16), 0..80,
    )) {
        let text = text(&choices);
        let binary = to_binary(&text);
        let (back, done) = to_text(&binary);
        prop_assert_eq!(back, text);
        prop_assert_eq!(done.lines, choices.len() as u64);
        prop_assert_eq!(done.unmatched, 0);
    }

    /// Whatever we export, a strict import takes.
    #[test]
    fn every_trace_exports_to_well_formed_text(run in run(120)) {
        let (text, done) = to_text(&write(&run, 30));
        let mut events = 0;
        let imported = import(text.as_bytes(), Strictness::Strict, |_| {
            events += 1;
            Ok(())
        });
        let imported = imported.unwrap();
        prop_assert_eq!(imported.lines, done.lines);
        prop_assert_eq!(events, done.lines);
        prop_assert_eq!(imported.reentrant, 0);
    }

    #[test]
    fn any_bytes_import_or_say_which_line(
        bytes in prop::collection::vec(prop::sample::select(b"T1|acqrelwbgndfokji()V\n\r \xff".to_vec()), 0..200),
    ) {
        if let Err(StdError::Line { line, .. }) =
            import(&bytes[..], Strictness::Strict, |_| Ok(()))
        {
            let lines = bytes.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
            prop_assert!((1..=lines).contains(&line));
        }
        exercise::text(&bytes);
    }
}

#[test]
fn the_sample_of_rapids_readme() {
    let text = "T0|r(V123)|345\nT1|w(V234.23[0])|456\nT0|fork(T2)|123\n\
                T2|acq(L34)|120\nT2|rel(L34)|130\nT0|join(T2)|134\n";
    let mut ops = Vec::new();
    let done = import(text.as_bytes(), Strictness::Strict, |e| {
        ops.push((e.thread.0, e.op.name()));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        ops,
        [
            (0, "read"),
            (1, "write"),
            (0, "fork"),
            (2, "acquire"),
            (2, "release"),
            (0, "join")
        ]
    );
    assert_eq!(&*done.tables.fields[&1].name, "V234.23[0]");
    assert_eq!(&*done.tables.threads[&ThreadId(2)].name, "T2");
    assert_eq!(done.tables.sites[&SiteId(1)].line, Some(345));
    assert_eq!(to_text(&to_binary(text)).0, text);
}

#[test]
fn errors_name_the_line_and_lenient_goes_on() {
    for (text, line, part) in [
        ("T0|r(x)|1\nT0|r(x|1\n", 2, "without `)`"),
        ("T0|jump(x)|1", 1, "unknown operation"),
        ("T0|r(x)|1\n\nT0|r(x)", 3, "only one `|`"),
        ("T0|r(x)|1|2", 1, "more than two"),
        ("|r(x)|1", 1, "no thread"),
        ("T0|r()|1", 1, "no operand"),
        ("T0|rel(m)|1", 1, "not held"),
        ("T0|acq(m)|1\nT1|acq(m)|1", 2, "another thread"),
    ] {
        let error = import(text.as_bytes(), Strictness::Strict, |_| Ok(())).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("line {line} ")), "{message}");
        assert!(message.contains(part), "{message}");
        let lenient = import(text.as_bytes(), Strictness::Lenient, |_| Ok(())).unwrap();
        assert_eq!(lenient.skipped, 1);
        assert_eq!(lenient.first_skipped.unwrap().0, line);
    }
}

#[test]
fn inner_acquisitions_are_counted_not_kept() {
    let text = "T0|acq(m)|1\nT0|acq(m)|2\r\nT0|rel(m)|3\nT0|rel(m)|4\nT1|acq(m)|5";
    let mut ops = Vec::new();
    let done = import(text.as_bytes(), Strictness::Strict, |e| {
        ops.push((e.thread.0, e.op.name(), e.site.0));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        ops,
        [(0, "acquire", 1), (0, "release", 4), (1, "acquire", 5)]
    );
    assert_eq!(done.reentrant, 2);
}

#[test]
fn what_std_has_no_word_for() {
    let loc = Loc {
        obj: ObjId(7),
        slot: 3,
    };
    let lock = LockId(ObjId(9));
    let tables = Tables::default();
    let mut exporter = Exporter::new(Names::Numbers, &tables);
    let mut out = Vec::new();
    for (thread, op) in [
        (1, Op::Begin),
        (1, Op::AtomicUpdate(loc, Mode::Volatile)),
        (1, Op::AcquireShared(lock)),
        (1, Op::ReleaseShared(lock)),
        (1, Op::Acquire(lock)),
        (1, Op::AcquireShared(lock)),
        (1, Op::WaitBegin(lock)),
        (1, Op::Release(lock)),
        (2, Op::Interrupt(ThreadId(1))),
    ] {
        let (thread, site) = (ThreadId(thread), SiteId(5));
        exporter.event(&Event { thread, site, op }, &mut out);
    }
    let done = exporter.finish();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "T1|acq(vol.7.3)|5\nT1|r(V7.3)|5\nT1|w(V7.3)|5\nT1|rel(vol.7.3)|5\n\
         T1|acq(L9)|5\nT1|rel(L9)|5\nT1|acq(L9)|5\nT1|rel(L9)|5\n\
         T1|acq(L9)|5\nT1|rel(L9)|5\n\
         T2|acq(int.T1)|5\nT2|rel(int.T1)|5\n"
    );
    assert_eq!(done.unmatched, 1);
    assert_eq!(done.left_out["begin"], 1);
}

#[test]
fn a_line_without_end_is_refused() {
    let endless = vec![b'x'; 5 << 20];
    let error = import(&endless[..], Strictness::Lenient, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}
