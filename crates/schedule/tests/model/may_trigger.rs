//! The finder on small programs that run freely: threads that go through methods
//! and take locks, in any order that the locks allow.

use proptest::prelude::*;
use schedule::Rng;
use schedule::may_trigger::{Answer, Finder, Peer, Relation};

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(&'static str),
    Exit,
    /// Object and class.
    Lock(usize, &'static str),
    Unlock(usize),
    Work,
}
use Step::{Enter, Exit, Lock, Unlock, Work};

#[derive(Default)]
struct Runner {
    at: usize,
    stack: Vec<&'static str>,
    granted: bool,
    suspended: bool,
    patience: u32,
}

/// What a run did: who took which object, in order, and the relation it saw.
struct Run {
    taken: Vec<(usize, usize)>,
    relation: Relation,
}

const PATIENCE: u32 = 500;

/// Who goes on first, by how far each thread is.
type Prefer = fn(&[usize]) -> [usize; 3];

/// Runs the program to its end. `prefer` is asked where the finder has nothing
/// to say; None: anybody goes on.
fn run(program: &[Vec<Step>], relation: &Relation, seed: u64, prefer: Option<Prefer>) -> Run {
    let plan = relation.plan();
    let mut finder = Finder::new(plan.clone(), seed);
    let mut rng = Rng::new(!seed);
    let mut threads: Vec<Runner> = program.iter().map(|_| Runner::default()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; 16];
    let mut out = Run {
        taken: vec![],
        relation: Relation::new(12),
    };
    for _ in 0..100_000 {
        let able = |t: usize, threads: &[Runner]| {
            let r: &Runner = &threads[t];
            match program[t].get(r.at) {
                None => false,
                Some(Lock(o, _)) if r.granted => owner[*o].is_none(),
                Some(_) => !r.suspended,
            }
        };
        let all = 0..program.len();
        let runnable: Vec<usize> = all.clone().filter(|t| able(*t, &threads)).collect();
        let peers: Vec<Peer> = all
            .clone()
            .filter(|t| threads[*t].at < program[*t].len())
            .map(|t| {
                let known = threads[t].stack.iter().rev().map(|m| plan.method(m));
                let mut known = known.filter(|m| *m != 0);
                Peer {
                    thread: t as u32,
                    able: able(t, &threads) || threads[t].suspended,
                    methods: [(); 2].map(|()| known.next().unwrap_or(0)),
                }
            })
            .collect();
        for t in all.clone() {
            if threads[t].suspended {
                threads[t].patience -= 1;
                if threads[t].patience == 0 {
                    threads[t].suspended = false;
                    threads[t].granted = true;
                    finder.expired(t as u32, &peers);
                }
            }
        }
        let escorted = finder.escorted().map(|t| t as usize);
        if let Some(e) = escorted {
            assert!(finder.waiting() > 0, "nobody is escorted for nothing");
            assert!(!finder.is_waiting(e as u32));
            assert!(
                threads[e].at < program[e].len(),
                "who has ended is not escorted"
            );
            if runnable.is_empty() {
                finder.stalled(&peers);
            }
        } else {
            assert_eq!(finder.waiting(), 0, "nobody waits for nobody");
        }
        let next = match (escorted, prefer) {
            (Some(e), _) if runnable.contains(&e) && rng.below(4) > 0 => Some(e),
            (_, Some(prefer)) => {
                let at: Vec<usize> = threads.iter().map(|r| r.at).collect();
                prefer(&at).into_iter().find(|t| runnable.contains(t))
            }
            _ if runnable.is_empty() => None,
            _ => Some(runnable[rng.index(runnable.len())]),
        };
        if let Some(t) = next {
            let thread = t as u32;
            let step = program[t][threads[t].at];
            let mut done = true;
            match step {
                Enter(m) => threads[t].stack.push(m),
                Exit => {
                    threads[t].stack.pop();
                }
                Unlock(o) => owner[o] = None,
                Work => {}
                Lock(o, class) if threads[t].granted => {
                    owner[o] = Some(t);
                    threads[t].granted = false;
                    out.taken.push((t, o));
                    let stack = threads[t].stack.iter().rev().copied();
                    out.relation.acquired(class, stack);
                    finder.acquired(thread, plan.class(class), &peers);
                }
                Lock(_, class) => {
                    done = false;
                    match finder.request(thread, plan.class(class), &peers) {
                        Answer::Go => threads[t].granted = true,
                        Answer::Wait => {
                            threads[t].suspended = true;
                            threads[t].patience = PATIENCE;
                        }
                    }
                }
            }
            if done {
                threads[t].at += 1;
                if threads[t].at == program[t].len() {
                    finder.ended(thread, &peers);
                }
            }
        }
        for t in finder.take_released() {
            let r = &mut threads[t as usize];
            assert!(r.suspended, "released once, and only who waits");
            r.suspended = false;
            r.granted = true;
        }
        let over = |t: usize| threads[t].at == program[t].len();
        if all.clone().all(over) {
            let c = finder.counts;
            assert_eq!(finder.waiting(), 0);
            assert_eq!(c.reversed + c.thrashed + c.expired, c.suspended);
            return out;
        }
    }
    panic!("hangs: {program:?}");
}

/// Figure 2 of the paper: k is 0, n is 1, o1 to o5 are 2 to 6.
fn figure_2() -> Vec<Vec<Step>> {
    let sync = |o, c| [Lock(o, c), Work, Unlock(o)];
    let t1 = [
        vec![Enter("f1"), Work],
        sync(0, "k").into(),
        vec![Enter("f2")],
        sync(2, "o1").into(),
        vec![Work],
        sync(1, "n").into(),
        vec![Exit, Exit],
    ];
    let t2 = [
        vec![Enter("f3"), Work, Work, Enter("f4")],
        sync(3, "o2").into(),
        sync(4, "o3").into(),
        vec![Enter("f5"), Work],
        sync(1, "n").into(),
        vec![Work, Exit, Exit, Exit],
    ];
    let t3 = [
        vec![Enter("f6"), Work, Work, Enter("f7")],
        sync(5, "o4").into(),
        sync(6, "o5").into(),
        vec![Enter("f8")],
        sync(0, "k").into(),
        vec![Work, Exit, Exit, Exit],
    ];
    vec![t1.concat(), t2.concat(), t3.concat()]
}

fn first(run: &Run, o: usize) -> usize {
    let taken = run.taken.iter().find(|(_, object)| *object == o);
    taken.map(|(t, _)| *t).unwrap()
}

/// All threads are in their methods; then t1 is done before the others have come
/// to anything. That is how the delays of the program have it.
fn natively(at: &[usize]) -> [usize; 3] {
    match at {
        [_, _, t3] if *t3 < 2 => [2, 1, 0],
        [_, t2, _] if *t2 < 2 => [1, 0, 2],
        _ => [0, 2, 1],
    }
}

#[test]
fn figure_2_is_turned_round_in_the_next_run() {
    let program = figure_2();
    let native = run(&program, &Relation::default(), 1, Some(natively));
    assert_eq!((first(&native, 0), first(&native, 1)), (0, 0));
    assert!(native.relation.may_trigger("f6", "k"));
    assert!(native.relation.may_trigger("f4", "n") && !native.relation.may_trigger("f8", "o5"));
    // A prediction that is acted on reluctantly may be missed: for each of the two
    // locks in 3 of 16 runs.
    let turned = |o: usize, by: usize| {
        let runs = (0..160).map(|seed| run(&program, &native.relation, seed, Some(natively)));
        runs.filter(|next| first(next, o) == by).count()
    };
    for turned in [turned(0, 2), turned(1, 1)] {
        assert!((115..=145).contains(&turned), "{turned} of 160");
    }
}

fn programs() -> impl Strategy<Value = Vec<Vec<Step>>> {
    const METHODS: [&str; 4] = ["a", "b", "c", "d"];
    const CLASSES: [&str; 3] = ["x", "y", "z"];
    // A block: a method around locks that are taken in ascending order, so that
    // no order of the program's own is a deadlock.
    let block = (0usize..4, 0usize..6, 0usize..6, any::<bool>(), 0usize..4);
    let thread = prop::collection::vec(block, 1..6).prop_map(|blocks| {
        let mut steps = vec![Enter("run")];
        for (m, p, q, nested, work) in blocks {
            steps.push(Enter(METHODS[m]));
            steps.extend(std::iter::repeat_n(Work, work));
            let (p, q) = (p.min(q), p.max(q));
            steps.push(Lock(p, CLASSES[p % 3]));
            if nested && p != q {
                steps.extend([Lock(q, CLASSES[q % 3]), Work, Unlock(q)]);
            }
            steps.extend([Unlock(p), Exit]);
        }
        steps.push(Exit);
        steps
    });
    prop::collection::vec(thread, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the relation says, every run ends, and the bookkeeping holds at
    /// every step (see the assertions in `run`).
    #[test]
    fn every_run_ends(program in programs(), seed in any::<u64>()) {
        let mut relation = Relation::default();
        for round in 0..4 {
            relation = run(&program, &relation, seed ^ round, None).relation;
        }
    }

    #[test]
    fn a_seed_names_a_run(program in programs(), seed in any::<u64>()) {
        let relation = run(&program, &Relation::default(), 0, None).relation;
        let twice = [(); 2].map(|()| run(&program, &relation, seed, None).taken);
        prop_assert_eq!(&twice[0], &twice[1]);
    }
}

/// Of the fuzz target.
#[test]
fn the_seed_of_relations() {
    let seed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/corpus/relation/every-kind"
    );
    assert!(test_support::exercise::tables::relation(
        &std::fs::read(seed).unwrap()
    ));
}
