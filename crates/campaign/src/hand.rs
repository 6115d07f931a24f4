//! A job's thread: the engine works there, one unit after the other. It stays between units, so that JVMs that
//! explored a portion are there for the next one; they are ended when none comes for a while.

use crate::execute::{Machine, execute, portions};
use crate::unit::{Campaign, Outcome, Task, Unit};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long JVMs are kept for another portion.
const KEEP: Duration = Duration::from_secs(5);

/// How long to wait for JVMs to end. A unit that is still being done is not waited for.
const END: Duration = Duration::from_secs(5);

/// A unit that is to be done.
#[derive(Debug)]
pub struct Order {
    pub unit: Unit,
    pub campaign: Arc<Campaign>,
    /// Where the bundle lies.
    pub place: PathBuf,
    pub machine: Machine,
}

type Asked = (Order, oneshot::Sender<Outcome>);

#[derive(Debug, Default)]
pub struct Hand {
    thread: Mutex<Option<Thread>>,
}

#[derive(Debug)]
struct Thread {
    asks: Sender<Asked>,
    /// Says nothing, and ends with the thread.
    life: Receiver<()>,
}

impl Thread {
    fn start() -> Thread {
        let (asks, orders) = channel();
        let (alive, life) = channel();
        std::thread::spawn(move || {
            serve(&orders);
            drop(alive);
        });
        Thread { asks, life }
    }
}

impl Hand {
    /// Does the unit. No outcome: the engine failed.
    pub async fn work(&self, order: Order) -> Option<Outcome> {
        let (answer, outcome) = oneshot::channel();
        self.ask((order, answer));
        outcome.await.ok()
    }

    fn ask(&self, asked: Asked) {
        let mut thread = self.thread.lock().unwrap_or_else(|e| e.into_inner());
        let asks = &thread.get_or_insert_with(Thread::start).asks;
        if let Err(back) = asks.send(asked) {
            // The engine failed in the last unit, and took the thread with it.
            let fresh = Thread::start();
            let _sent = fresh.asks.send(back.0);
            *thread = Some(fresh);
        }
    }

    /// Ends JVMs that are kept. Another unit would start others.
    pub fn rest(&self) {
        let thread = self.thread.lock().map(|mut it| it.take());
        let Some(Thread { asks, life }) = thread.ok().flatten() else {
            return;
        };
        drop(asks);
        let _ended = life.recv_timeout(END);
    }
}

fn serve(orders: &Receiver<Asked>) {
    let mut next = orders.recv().ok();
    while let Some((order, answer)) = next.take() {
        next = match order.unit.task {
            Task::Verify { .. } => series(order, answer, orders),
            _ => {
                let Order {
                    unit,
                    campaign,
                    place,
                    machine,
                } = &order;
                // Whoever asked may have gone.
                let _ = answer.send(execute(unit, campaign, place, machine));
                None
            }
        };
        if next.is_none() {
            next = orders.recv().ok();
        }
    }
}

/// Portions of one exploration, as long as they come. What came instead of another one.
fn series(
    first: Order,
    answer: oneshot::Sender<Outcome>,
    orders: &Receiver<Asked>,
) -> Option<Asked> {
    let Order {
        unit,
        campaign,
        place,
        machine,
    } = first;
    let program = unit.program;
    let mut answer = Some(answer);
    let mut other = None;
    let fits = |order: &Order| {
        matches!(order.unit.task, Task::Verify { .. })
            && order.unit.program == program
            && order.place == place
            && Arc::ptr_eq(&order.campaign, &campaign)
    };
    let left = portions(unit, &campaign, &place, &machine, &mut |outcome| {
        let _ = answer.take()?.send(outcome);
        match orders.recv_timeout(KEEP) {
            Ok((order, to)) if fits(&order) => {
                answer = Some(to);
                Some(order.unit)
            }
            Ok(asked) => {
                other = Some(asked);
                None
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    });
    match (left, answer) {
        (Some(unit), Some(answer)) => {
            let again = Order {
                unit,
                campaign,
                place,
                machine,
            };
            Some((again, answer))
        }
        _ => other,
    }
}
