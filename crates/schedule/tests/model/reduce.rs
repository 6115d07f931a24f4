//! Reduced runs held against brute force: the fewest preemptions of all runs that show the same.
//!
//! What is to be shown is what the registers hold at the end of a random run, or a race of two statements
//! side by side. Brute force goes through all states, each with the thread that ran last, by preemptions.

use crate::world::{Outcome, SchedulerState, params, sample};
use litmus::Program;
use litmus::random::Shape;
use schedule::reduce::{Course, Execution, Moment, Steered, look, preemptions, reduce};
use schedule::{Decision, Strategy, View, strategy};
use std::collections::{BTreeMap, BTreeSet};

/// What a run is to show.
#[derive(Clone, PartialEq, Debug)]
enum Goal {
    Ends(Outcome),
    /// Threads at these two statements, about to access one variable, the first one going first.
    Race(u32, u32),
}

fn races(view: &View<'_>, thread: u32, goal: &Goal) -> bool {
    let Goal::Race(a, b) = goal else {
        return false;
    };
    let op = view.op_of(thread).unwrap();
    let meets = |other: &schedule::Ready| {
        other.thread != thread && other.op.site == *b && other.op.races(&op)
    };
    op.site == *a && view.ready.iter().any(meets)
}

/// Who could go on, without those that give way, as logs have it.
fn goes_on(view: &View<'_>) -> Vec<u32> {
    let ready = view.ready.iter().filter(|r| !r.op.kind.gives_way());
    ready.map(|r| r.thread).collect()
}

/// A notify always wakes the first: a course says nothing of that.
fn execute(program: &Program, strategy: &mut dyn Strategy, goal: &Goal) -> Execution {
    let mut world = SchedulerState::new(program);
    let (mut moments, mut shown) = (Vec::new(), None);
    while let Some(sight) = world.look() {
        assert!(moments.len() < 100_000, "the run does not end");
        let view = sight.view();
        let decision = strategy.pick(&view);
        let step = match decision {
            Decision::Run(thread) => Some((thread, view.op_of(thread).unwrap())),
            _ => None,
        };
        moments.push(Moment {
            step,
            ready: goes_on(&view),
            may_tick: view.deadline.is_some(),
        });
        match step {
            Some((thread, _)) => {
                if races(&view, thread, goal) {
                    shown.get_or_insert(moments.len());
                }
                world.run(thread, 0);
            }
            None => world.tick(&sight),
        }
    }
    let truncated = world.machine.outcome().truncated;
    if matches!(goal, Goal::Ends(outcome) if *outcome == world.outcome()) && !truncated {
        shown = Some(moments.len());
    }
    Execution { moments, shown }
}

/// The fewest preemptions with which the goal can be reached.
fn brute_force(program: &Program, goal: &Goal) -> Option<u32> {
    /// A state, the thread that ran last, whether time passed last, whether a loop was cut short.
    type Key = (u64, Option<u32>, bool, bool);
    // Where it is none, the goal is reached.
    type Node = Option<(SchedulerState, Option<u32>, bool)>;
    let mut open: BTreeMap<(u32, u64), Node> = BTreeMap::new();
    open.insert((0, 0), Some((SchedulerState::new(program), None, false)));
    let mut done: BTreeSet<Key> = BTreeSet::new();
    let mut number = 0;
    while let Some(((cost, _), node)) = open.pop_first() {
        let Some((mut world, last, ticking)) = node else {
            return Some(cost);
        };
        let truncated = world.machine.outcome().truncated;
        if !done.insert((world.key(), last, ticking, truncated)) {
            continue;
        }
        let Some(sight) = world.look() else {
            if matches!(goal, Goal::Ends(outcome) if *outcome == world.outcome()) && !truncated {
                return Some(cost);
            }
            continue;
        };
        let view = sight.view();
        let goes_on = goes_on(&view);
        let threads = view.ready.iter().map(|r| Some(r.thread));
        for who in threads.chain(view.deadline.map(|_| None)) {
            let preempts = last.is_some_and(|l| who != Some(l) && goes_on.contains(&l));
            let cost = cost + u32::from(preempts && !ticking);
            number += 1;
            if who.is_some_and(|thread| races(&view, thread, goal)) {
                open.insert((cost, number), None);
                continue;
            }
            let mut next = world.clone();
            match who {
                Some(thread) => next.run(thread, 0),
                None => next.tick(&sight),
            }
            let next = (next, who.or(last), who.is_none());
            open.insert((cost, number), Some(next));
        }
    }
    None
}

/// As a course is followed, so it is written down.
fn check_repeats(program: &Program, execution: &Execution, goal: &Goal) {
    let course: Course = execution.course().to_string().parse().unwrap();
    let again = execute(program, &mut Steered::new(course), goal);
    assert_eq!(again.story(), execution.story(), "a course names a run");
}

/// The budget of the command.
const BRIEF: u32 = 12;

const SMALL: Shape = Shape {
    threads: 2,
    length: 4,
    vars: 2,
    locks: 2,
    mixed: false,
    init: false,
    blocking: false,
    branchy: false,
};

/// Reduces what random runs of random programs show. How many there were, how many of them had fewer
/// preemptions by brute force, and by how many in all.
fn reduced(shape: Shape, programs: usize, budget: u32) -> (u32, u32, u32) {
    let (mut count, mut off, mut by) = (0, 0, 0);
    for (number, program) in sample(shape, programs).iter().enumerate() {
        let seed = number as u64;
        let nothing = Goal::Race(u32::MAX, u32::MAX);
        let mut random = strategy("random", &params(seed, None)).unwrap();
        let run = execute(program, random.as_mut(), &nothing);
        let mut world = SchedulerState::new(program);
        let mut goal = None;
        for moment in &run.moments {
            let sight = world.look().unwrap();
            let Some((thread, op)) = moment.step else {
                world.tick(&sight);
                continue;
            };
            let beside = sight.view().ready.iter();
            let mut beside = beside.filter(|r| r.thread != thread && r.op.races(&op));
            if let (Some(other), true) = (beside.next(), number % 2 == 0) {
                goal = Some(Goal::Race(op.site, other.op.site));
                break;
            }
            world.run(thread, 0);
        }
        if goal.is_none() && world.look().is_none() && !world.machine.outcome().truncated {
            goal = Some(Goal::Ends(world.outcome()));
        }
        let Some(goal) = goal else {
            continue;
        };
        let mut again = strategy("random", &params(seed, None)).unwrap();
        let start = execute(program, again.as_mut(), &goal);
        assert!(start.shown.is_some(), "{goal:?}");
        check_repeats(program, &start, &goal);
        let before = start.cost();
        let mut made = 0;
        let best = reduce(start, budget, &mut |course| {
            made += 1;
            Some(execute(program, &mut Steered::new(course.clone()), &goal))
        });
        assert_eq!(made, best.executions);
        assert!(best.executions <= budget);
        assert!(best.execution.shown.is_some(), "it shows the same");
        assert!(best.cost <= before);
        assert_eq!(best.cost.preemptions, preemptions(best.execution.story()));
        check_repeats(program, &best.execution, &goal);
        let fewest = brute_force(program, &goal).expect("the random run shows it");
        assert!(best.cost.preemptions >= fewest, "{program:?} {goal:?}");
        if best.is_fewest {
            assert_eq!(best.cost.preemptions, fewest, "{program:?} {goal:?}");
        }
        if budget > BRIEF {
            let looked = look(fewest, budget, &mut |course| {
                Some(execute(program, &mut Steered::new(course.clone()), &goal))
            });
            assert!(looked.found.is_some(), "{program:?} {goal:?}");
            let below = fewest.checked_sub(1).map(|below| {
                look(below, budget, &mut |course| {
                    Some(execute(program, &mut Steered::new(course.clone()), &goal))
                })
            });
            assert!(below.is_none_or(|below| below.found.is_none() && below.is_complete));
        }
        count += 1;
        off += u32::from(best.cost.preemptions > fewest);
        by += best.cost.preemptions - fewest;
    }
    (count, off, by)
}

#[test]
fn with_time_enough_no_run_has_fewer_preemptions() {
    let (count, off, _) = reduced(SMALL, 3000, 1_000_000);
    assert!(count > 1500, "{count}");
    assert_eq!(off, 0);
}

#[test]
fn programs_that_wait() {
    let shape = Shape {
        blocking: true,
        length: 3,
        ..SMALL
    };
    let (count, off, _) = reduced(shape, 2000, 1_000_000);
    assert!(count > 1000, "{count}");
    assert_eq!(off, 0);
}

/// With the budget of the command: nearly always the fewest.
#[test]
fn with_little_time_it_is_seldom_off() {
    let (count, off, by) = reduced(SMALL, 1500, BRIEF);
    println!("{off} of {count} have a preemption too many, {by} in all");
    assert!(off * 10 < count, "{off} of {count}");
}
