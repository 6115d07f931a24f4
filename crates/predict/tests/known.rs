//! Traces whose races are known, written as STD text, and what each engine
//! says about them.

use predict::check::{Checker, Fault, Rule};
use predict::deps::Deps;
use predict::{Method, Standing};
use trace::std_text::{Strictness, import};
use trace::{Event, Loc, LockId, Mode, ObjId, Op, SiteId, ThreadId};

/// One event a word: `1w(x)` is thread 1 writing x. Sites are places, from 1.
fn trace(text: &str) -> Vec<Event> {
    let lines: String = text
        .split_whitespace()
        .enumerate()
        .map(|(n, word)| {
            let at = word.find(|c: char| !c.is_ascii_digit()).unwrap();
            format!("T{}|{}|{}\n", &word[..at], &word[at..], n + 1)
        })
        .collect();
    let mut events = Vec::new();
    import(lines.as_bytes(), Strictness::Strict, |e| {
        events.push(*e);
        Ok(())
    })
    .unwrap();
    // Numbered by the importer in order of appearance.
    for (n, e) in (1..).zip(&mut events) {
        e.site = SiteId(n);
    }
    events
}

/// For every engine, how many pairs it reports.
fn counts(events: &[Event]) -> [usize; 6] {
    Method::ALL.map(|m| {
        let found = m.run(events);
        assert_eq!(found.refuted, 0);
        assert!(found.incomplete.is_none());
        for p in &found {
            let proved = p.witness.is_some();
            let standing = match m {
                Method::Hb => Standing::Observed,
                Method::Wcp => Standing::Potential,
                _ => Standing::Predicted,
            };
            assert_eq!(
                (p.standing, proved),
                (standing, standing == Standing::Predicted)
            );
        }
        found.len()
    })
}

#[test]
fn a_plain_race_is_everybodys() {
    assert_eq!(counts(&trace("1w(x) 2w(x)")), [1; 6]);
    assert_eq!(counts(&trace("1r(x) 2r(x)")), [0; 6]);
}

/// Found by random traces that make no sense.
#[test]
fn a_thread_that_goes_on_after_its_end_does_not_race_with_itself() {
    let mut events = trace("1w(x) 1w(x) 1r(x) 2w(y)");
    events[1].op = Op::End;
    for method in Method::ALL {
        assert!(method.run(&events).is_empty(), "{method:?}");
    }
}

#[test]
fn a_lock_around_both_is_nobodys() {
    let events = trace("1acq(l) 1w(x) 1rel(l) 2acq(l) 2w(x) 2rel(l)");
    assert_eq!(counts(&events), [0; 6]);
}

#[test]
fn the_order_of_critical_sections_was_chance() {
    let events = trace("1w(x) 1acq(l) 1rel(l) 2acq(l) 2rel(l) 2w(x)");
    assert_eq!(counts(&events), [0, 0, 1, 1, 1, 1]);
}

#[test]
fn a_value_seen_in_the_critical_section_orders() {
    let events = trace("1w(x) 1acq(l) 1w(y) 1rel(l) 2acq(l) 2r(y) 2rel(l) 2w(x)");
    assert_eq!(counts(&events), [0; 6]);
}

/// WCP orders what conflicts; a write that nobody sees can be left out.
#[test]
fn a_value_overwritten_in_the_critical_section_orders_only_for_wcp() {
    let events = trace("1w(x) 1acq(l) 1w(y) 1rel(l) 2acq(l) 2w(y) 2rel(l) 2w(x)");
    assert_eq!(counts(&events), [0, 0, 0, 1, 1, 1]);
}

#[test]
fn only_a_reversal_shows_a_race_inside_the_earlier_critical_section() {
    let events = trace("1acq(l) 1w(x) 1rel(l) 2acq(l) 2rel(l) 2w(x)");
    assert_eq!(counts(&events), [0, 0, 1, 0, 1, 1]);
}

#[test]
fn no_reversal_against_a_value() {
    let events = trace("1acq(l) 1w(y) 1w(x) 1rel(l) 2acq(l) 2r(y) 2rel(l) 2w(x)");
    assert_eq!(counts(&events), [0; 6]);
}

/// SHB's own example: after the first race, happens-before goes wrong.
#[test]
fn what_depends_on_the_first_race_is_no_race() {
    let events = trace("1w(x) 1w(y) 2r(y) 2w(x)");
    let found = |m: Method| {
        let pairs = m.run(&events).into_vec();
        let sites = pairs.iter().map(|p| (p.first.site.0, p.second.site.0));
        sites.collect::<Vec<_>>()
    };
    assert_eq!(found(Method::Hb), [(2, 3), (1, 4)]);
    assert_eq!(found(Method::Shb), [(2, 3)]);
    assert_eq!(found(Method::SyncP), [(2, 3)]);
    assert_eq!(found(Method::Osr), [(2, 3)]);
}

#[test]
fn a_reversal_among_other_critical_sections() {
    // x is written inside l, which is taken later by 3, who also takes m
    // after 2 left it.
    let events =
        trace("1acq(l) 1w(x) 1rel(l) 2acq(m) 2w(z) 2rel(m) 3acq(m) 3rel(m) 3acq(l) 3rel(l) 3w(x)");
    assert_eq!(counts(&events)[3..], [0, 1, 1]);
}

#[test]
fn fork_and_join_order() {
    let events = trace("1w(x) 1fork(T2) 2w(x) 1join(T2) 1w(x)");
    assert_eq!(counts(&events), [0; 6]);
    let events = trace("1fork(T2) 1w(x) 2w(x) 1join(T2)");
    assert_eq!(counts(&events), [1; 6]);
}

fn event(thread: u32, site: u32, op: Op) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op,
    }
}

fn loc(slot: u32) -> Loc {
    Loc {
        obj: ObjId(1),
        slot,
    }
}

const L: LockId = LockId(ObjId(9));

#[test]
fn a_volatile_orders_by_what_was_seen() {
    let events = [
        event(0, 1, Op::Write(loc(0))),
        event(0, 2, Op::AtomicWrite(loc(1), Mode::Volatile)),
        event(1, 3, Op::AtomicRead(loc(1), Mode::Volatile)),
        event(1, 4, Op::Write(loc(0))),
    ];
    assert_eq!(counts(&events), [0; 6]);
    // Nobody saw the write.
    let mut unseen = events;
    unseen[2].op = Op::AtomicWrite(loc(1), Mode::Volatile);
    assert_eq!(counts(&unseen), [1; 6]);
}

#[test]
fn readers_of_a_shared_lock_do_not_exclude_each_other() {
    let events = [
        event(0, 1, Op::AcquireShared(L)),
        event(0, 2, Op::Write(loc(0))),
        event(0, 3, Op::ReleaseShared(L)),
        event(1, 4, Op::AcquireShared(L)),
        event(1, 5, Op::Write(loc(0))),
        event(1, 6, Op::ReleaseShared(L)),
    ];
    assert_eq!(counts(&events), [1; 6]);
    let mut exclusive = events;
    exclusive[3].op = Op::Acquire(L);
    exclusive[5].op = Op::Release(L);
    assert_eq!(counts(&exclusive), [0; 6]);
}

#[test]
fn a_woken_thread_comes_after_the_notify() {
    let events = [
        event(0, 1, Op::Acquire(L)),
        event(0, 2, Op::WaitBegin(L)),
        event(1, 3, Op::Write(loc(0))),
        event(1, 4, Op::Acquire(L)),
        event(1, 5, Op::Notify(L)),
        event(1, 6, Op::Release(L)),
        event(
            0,
            7,
            Op::WaitEnd {
                lock: L,
                notified: true,
            },
        ),
        event(0, 8, Op::Release(L)),
        event(0, 9, Op::Write(loc(0))),
    ];
    assert_eq!(counts(&events), [0; 6]);
}

#[test]
fn a_static_initialiser_comes_before_what_follows_it() {
    let events = [
        event(0, 1, Op::InitBegin(ObjId(7))),
        event(0, 2, Op::Write(loc(0))),
        event(0, 3, Op::InitEnd(ObjId(7))),
        event(1, 4, Op::Read(loc(0))),
    ];
    assert_eq!(counts(&events), [0; 6]);
}

/// The checker, rule by rule: a witness that breaks just that one.
#[test]
fn the_checker_accepts_no_broken_rule() {
    let check = |events: &[Event], order: &[u32]| {
        let checker = Checker::new(events);
        checker
            .check_order(order)
            .map_err(|Fault { at, what }| (at, what))
    };
    let plain = trace("1w(x) 1w(y) 2r(y) 2w(x)");
    assert_eq!(check(&plain, &[0, 1, 2]), Ok(()));
    assert_eq!(check(&plain, &[0, 1, 2, 3]), Err((3, Rule::NoRace)));
    assert_eq!(check(&plain, &[2, 0, 3]), Err((0, Rule::ReadsFrom)));
    assert_eq!(check(&plain, &[1, 2]), Err((0, Rule::ProgramOrder)));
    assert_eq!(check(&plain, &[0, 99]), Err((1, Rule::Nonsense)));
    assert_eq!(check(&plain, &[0]), Err((0, Rule::Nonsense)));

    let locked = trace("1acq(l) 1w(x) 1rel(l) 2acq(l) 2rel(l) 2w(x)");
    assert_eq!(check(&locked, &[3, 4, 0, 1, 5]), Ok(()));
    assert_eq!(check(&locked, &[0, 3, 4, 1, 5]), Err((1, Rule::Exclusion)));

    let forked = trace("1fork(T2) 1w(x) 2w(x) 1join(T2)");
    assert_eq!(check(&forked, &[0, 1, 2]), Ok(()));
    assert_eq!(check(&forked, &[2, 0, 1]), Err((0, Rule::Fork)));
    let joined = trace("1fork(T2) 2w(y) 1join(T2) 1w(x) 3w(x)");
    assert_eq!(check(&joined, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(check(&joined, &[0, 2, 3, 4]), Err((1, Rule::Join)));

    let volatile = |write| {
        let store = Op::AtomicWrite(loc(1), Mode::Volatile);
        let load = Op::AtomicRead(loc(1), Mode::Volatile);
        [
            event(0, 1, store),
            event(1, 2, if write { store } else { load }),
            event(0, 3, Op::Write(loc(0))),
            event(1, 4, Op::Write(loc(0))),
        ]
    };
    assert_eq!(check(&volatile(true), &[0, 1, 2, 3]), Ok(()));
    assert_eq!(
        check(&volatile(true), &[1, 0, 2, 3]),
        Err((1, Rule::VolatileOrder))
    );
    assert_eq!(
        check(&volatile(false), &[1, 0, 2, 3]),
        Err((0, Rule::ReadsFrom))
    );

    let pair = [
        event(0, 8, Op::Write(loc(0))),
        event(1, 9, Op::Write(loc(0))),
    ];
    let with = |ops: [(u32, Op); 3]| {
        let ops = ops.map(|(thread, op)| event(thread, 1, op));
        ops.into_iter().chain(pair).collect::<Vec<_>>()
    };
    let end = Op::WaitEnd {
        lock: L,
        notified: true,
    };
    let waits = with([(0, Op::WaitBegin(L)), (1, Op::Notify(L)), (0, end)]);
    assert_eq!(check(&waits, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(check(&waits, &[0, 2, 1, 3, 4]), Err((1, Rule::Monitor)));
    assert_eq!(check(&waits, &[1, 0, 2, 3, 4]), Err((1, Rule::Monitor)));
    let parks = with([
        (1, Op::Unpark(ThreadId(0))),
        (0, Op::Park),
        (0, Op::Branch(0)),
    ]);
    assert_eq!(check(&parks, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(check(&parks, &[1, 0, 2, 3, 4]), Err((0, Rule::Signal)));
    let late = with([
        (0, Op::Branch(0)),
        (1, Op::Interrupt(ThreadId(0))),
        (0, Op::Branch(0)),
    ]);
    assert_eq!(check(&late, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(check(&late, &[1, 0, 2, 3, 4]), Err((1, Rule::Signal)));
    let handed = with([
        (1, Op::SyncRelease(ObjId(5))),
        (0, Op::SyncAcquire(ObjId(5))),
        (0, Op::Branch(0)),
    ]);
    assert_eq!(check(&handed, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(check(&handed, &[1, 0, 2, 3, 4]), Err((0, Rule::Handover)));
    let init = with([
        (1, Op::InitBegin(ObjId(5))),
        (1, Op::InitEnd(ObjId(5))),
        (0, Op::Branch(0)),
    ]);
    assert_eq!(check(&init, &[0, 1, 2, 3, 4]), Ok(()));
    assert_eq!(
        check(&init, &[0, 2, 1, 3, 4]),
        Err((1, Rule::Initialisation))
    );
}

/// Told to stop, an engine gives a part of what it finds, and says so.
#[test]
fn what_is_stopped_is_a_part_and_says_so() {
    let words: Vec<String> = (0..2000)
        .map(|n| format!("{}w(x{})", n % 2 + 1, n / 2))
        .collect();
    let events = trace(&words.join(" "));
    for method in Method::ALL {
        let whole = method.run(&events);
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= 4;
        let part = method.run_until(&events, &Deps::unknown(), &stop);
        assert!(part.len() <= whole.len());
        assert!(asked.get() > 0, "{method:?} does not ask");
        let at_once = method.run_until(&events, &Deps::unknown(), &|| true);
        let why = at_once.incomplete.as_deref();
        assert_eq!(why, Some("there was no more time"), "{method:?}");
        if method.needs_trace() {
            assert!(part.len() < whole.len(), "{method:?} goes on");
            assert!(part.incomplete.is_some());
        }
        for p in &part {
            let known = whole.iter().any(|other| other.first.site == p.first.site);
            assert!(known, "{method:?} finds another race when it is stopped");
        }
    }
}

/// Nothing is predicted from a read of which nobody knows what it saw; and a
/// witness with it is not accepted.
#[test]
fn nothing_follows_from_an_unsure_read() {
    let proven = |events: &[Event]| {
        [Method::Shb, Method::SyncP, Method::Osr, Method::Sliced].map(|m| {
            let found = m.run(events);
            assert_eq!(found.refuted, 0);
            let predicted = { found.iter() }.filter(|p| p.standing == Standing::Predicted);
            predicted.map(|p| p.loc).collect::<Vec<_>>()
        })
    };
    let sure = trace("1w(y) 2r(z) 2w(x) 1w(x) 1w(z)");
    let x = sure[2].op.access().unwrap().0;
    let z = sure[1].op.access().unwrap().0;
    let both = proven(&sure);
    assert!(
        both.iter().all(|f| f.contains(&x) && f.contains(&z)),
        "{both:?}"
    );
    let mut unsure = sure.clone();
    let mark = Event {
        op: Op::Unsure(1),
        ..sure[1]
    };
    unsure.insert(2, mark);
    // The read itself may see anything, and races all the same.
    let left = proven(&unsure);
    assert!(left.iter().all(|f| *f == [z]), "{left:?}");
    let checker = Checker::new(&unsure);
    let fault = checker.check_order(&[0, 1, 2, 3, 4]).unwrap_err();
    assert_eq!(fault.what, Rule::Unsure);
    assert_eq!(checker.check_order(&[0, 4, 1, 5]), Ok(()));
}
