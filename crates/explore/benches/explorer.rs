//! What the exploration itself costs, apart from the executions:
//! `cargo bench -p photofinish-explore`.

use explore::{Config, Explorer};
use litmus::{Lock, Program, Reg, Stmt, Var, add, load, read, store, sync, write};
use std::time::{Duration, Instant};
use test_support::exploring::{Points, run};

const MOST: u64 = 50_000;

fn main() {
    let x = Var(0);
    let counts = || sync(Lock(0), [read(Reg(0), x), write(x, add(Reg(0), 1))]);
    let long = |own: u16| -> Vec<Stmt> {
        let mut body = vec![store(Var(own), 1); 200];
        body.extend([store(x, 1), load(Reg(0), x)]);
        body.extend(vec![store(Var(own), 1); 200]);
        body.push(store(x, 1));
        body
    };
    let programs = [
        (
            "2 threads, 9 stores",
            Program::parallel([vec![store(x, 1); 9], vec![store(x, 1); 9]]),
        ),
        (
            "7 threads, 1 store",
            Program::parallel((0..7).map(|_| vec![store(x, 1)])),
        ),
        (
            "3 threads, 3 locked",
            Program::parallel((0..3).map(|_| vec![counts(); 3])),
        ),
        ("800 steps, 3 shared", Program::parallel([long(1), long(2)])),
    ];
    println!(
        "{:22} {:>10} {:>6} {:>12} {:>6}",
        "", "executions", "steps", "a second", "nodes"
    );
    for (name, program) in programs {
        let mut explorer = Explorer::new(Config::default());
        let (mut spent, mut nodes) = (Duration::ZERO, 0);
        let mut done = 0;
        while done < MOST {
            let start = Instant::now();
            let Some(job) = explorer.next() else {
                break;
            };
            spent += start.elapsed();
            let Ok((execution, _)) = run(&program, &Points::All, job.guide()) else {
                break;
            };
            let start = Instant::now();
            let told = explorer.finish(job.id, &execution, 0);
            spent += start.elapsed();
            told.expect("the guide was followed");
            nodes = nodes.max(explorer.size());
            done += 1;
        }
        let progress = explorer.progress();
        let rate = done as f64 / spent.as_secs_f64();
        println!(
            "{name:22} {done:>10} {:>6} {rate:>12.0} {nodes:>6}",
            progress.max_depth
        );
    }
}
