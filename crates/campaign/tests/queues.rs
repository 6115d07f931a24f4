//! What both queues promise, held against them: the same tests for the embedded one and for a
//! real NATS server.

use campaign::account::Account;
use campaign::coordinator::{self, Ended};
use campaign::embedded::Embedded;
use campaign::execute::Machine;
use campaign::nats::{Connection, Nats, Server};
use campaign::patience::patiently;
use campaign::queue::{Kept, Queue};
use campaign::unit::{self, Campaign, End, Outcome, State, Unit, WorkerStatus};
use campaign::worker::{Bundles, Tell, Worker};
use campaign::{Error, bundle};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use test_support::nats::{self, NatsServer};
use test_support::trials::{self, Trial, skipped, trial};

#[path = "queues/sample.rs"]
mod sample;
use sample::{campaign, unit};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

/// A unit that is not finished comes back; one that is does not; extending keeps it.
async fn leases_run_out_unless_they_are_extended<Q: Queue>(queue: Arc<Q>) {
    let name = queue.campaign().name.clone();
    assert_eq!(queue.publish(&[unit(&name, 0)]).await.unwrap(), 1);
    assert_eq!(
        queue.publish(&[unit(&name, 0)]).await.unwrap(),
        0,
        "it waits already"
    );
    let first = queue.take(LONG).await.unwrap().unwrap();
    assert_eq!(first.deliveries, 1);
    assert_eq!(unit::decode::<Unit>(&first.bytes).unwrap(), unit(&name, 0));
    for _ in 0..8 {
        tokio::time::sleep(SHORT).await;
        queue.extend(&first.lease).await.unwrap();
    }
    assert!(
        queue.take(SHORT).await.unwrap().is_none(),
        "somebody works on it"
    );
    let second = queue
        .take(LONG)
        .await
        .unwrap()
        .expect("the lease has run out");
    assert_eq!(second.deliveries, 2);
    queue
        .give_back(&second.lease, Duration::ZERO)
        .await
        .unwrap();
    let third = queue.take(LONG).await.unwrap().expect("it was given back");
    assert_eq!(third.deliveries, 3);
    queue.finish(&third.lease).await.unwrap();
    assert!(
        queue
            .take(2 * Duration::from_secs(1))
            .await
            .unwrap()
            .is_none(),
        "it is done"
    );
}

/// The first result of a unit is kept, whoever comes later, and all are read in order.
async fn results_are_stored_once<Q: Queue>(queue: Arc<Q>) {
    let name = queue.campaign().name.clone();
    let outcome = |index, worker: &str| Outcome::given_up(&unit(&name, index), worker, "because");
    for index in 0..20 {
        assert!(!queue.is_stored(&unit(&name, index).id()).await.unwrap());
        assert_eq!(
            queue.store(&outcome(index, "first")).await.unwrap(),
            Kept::New
        );
        assert_eq!(
            queue.store(&outcome(index, "second")).await.unwrap(),
            Kept::Known
        );
        assert!(queue.is_stored(&unit(&name, index).id()).await.unwrap());
    }
    let (mut after, mut read) = (0, Vec::new());
    loop {
        let some = queue.results(after, 7, Duration::ZERO).await.unwrap();
        let Some(last) = some.last() else {
            break;
        };
        after = last.sequence;
        read.extend(some);
    }
    let outcomes: Vec<Outcome> = read
        .iter()
        .map(|s| unit::decode(&s.bytes).unwrap())
        .collect();
    let wanted: Vec<Outcome> = (0..20).map(|index| outcome(index, "first")).collect();
    assert_eq!(outcomes, wanted);
    let stranger = Outcome {
        campaign: "stranger".into(),
        ..outcome(3, "first")
    };
    let refused = queue.store(&stranger).await;
    assert!(
        matches!(&refused, Err(Error::Unknown(name)) if name == "stranger"),
        "{refused:?}"
    );
    let long = Outcome::given_up(&unit(&name, 99), "w", noise(3 << 20));
    assert_eq!(
        queue.store(&long).await.unwrap(),
        Kept::New,
        "longer than a message"
    );
    let back = queue.results(after, 1, LONG).await.unwrap();
    assert_eq!(unit::decode::<Outcome>(&back[0].bytes).unwrap(), long);
}

/// Text that does not compress.
fn noise(length: usize) -> String {
    let mut chance = fastrand::Rng::with_seed(5);
    (0..length).map(|_| chance.alphanumeric()).collect()
}

fn worker<Q: Queue>(queue: &Arc<Q>, jobs: u32, lines: &Arc<Mutex<Vec<String>>>) -> Worker<Q> {
    let lines = lines.clone();
    let tell: Tell = Arc::new(move |line| lines.lock().unwrap().push(line.to_owned()));
    let machine = Machine {
        java: None,
        worker: format!("w{jobs}"),
    };
    let bundles = Arc::new(Bundles::new().unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    Worker::new(queue.clone(), machine, bundles, stop, jobs, tell)
}

/// A whole campaign, with a message that is no work and results that are none in between.
async fn a_campaign_runs_to_its_end<Q: Queue + Strange>(queue: Arc<Q>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    queue.no_work().await;
    queue.no_result().await;
    let workers = [worker(&queue, 1, &lines), worker(&queue, 2, &lines)];
    let running: Vec<_> = { workers.iter().cloned() }
        .map(|worker| tokio::spawn(async move { worker.run().await }))
        .collect();
    let mut account = Account::new(queue.campaign());
    let stop = AtomicBool::new(false);
    let ended = coordinator::coordinate(&*queue, &mut account, &stop, &mut ())
        .await
        .unwrap();
    assert_eq!(ended, Ended::Done);
    for worker in running {
        worker.await.unwrap().unwrap();
    }
    assert_eq!(account.plan.done(), 200);
    assert_eq!(account.executions, 200);
    assert_eq!(account.programs[0].orders.len(), 200);
    assert_eq!(account.given_up, 0);
    assert_eq!(account.programs[0].findings(), 5);
    assert_eq!(workers.iter().map(Worker::units).sum::<u64>(), 200);
    // What was refused is counted and said, and cost nothing.
    assert_eq!(account.refused, Q::STRANGERS, "{:?}", account.why_refused);
    if Q::STRANGERS > 0 {
        let lines = lines.lock().unwrap().join("\n");
        assert!(lines.contains("is no work and is refused"), "{lines}");
        let why = account.why_refused.join("\n");
        assert!(why.contains("which is not known here"), "{why}");
        assert!(why.contains("cannot be read"), "{why}");
    }
    // Whoever folds the results again comes to the same, and finds nothing to do.
    let mut again = Account::new(queue.campaign());
    let ended = coordinator::coordinate(&*queue, &mut again, &stop, &mut ())
        .await
        .unwrap();
    assert_eq!(ended, Ended::Done);
    assert_eq!(again.plan.done(), 200);
    assert_eq!(again.report(0), account.report(0));
}

/// Messages that do not belong there.
trait Strange: Queue {
    const STRANGERS: u64;
    fn no_work(&self) -> impl Future<Output = ()> + Send;
    fn no_result(&self) -> impl Future<Output = ()> + Send;
}

impl Strange for Embedded {
    const STRANGERS: u64 = 0;
    async fn no_work(&self) {}
    async fn no_result(&self) {}
}

impl Strange for Nats {
    const STRANGERS: u64 = 4;

    async fn no_work(&self) {
        let name = &self.campaign().name;
        for (at, bytes) in [
            &b"\xff\x00 no work"[..],
            b"{}",
            &unit::encode(&unit("other", 1)),
        ]
        .into_iter()
        .enumerate()
        {
            let subject = format!("photofinish.work.{name}.x{at}");
            self.raw(subject, bytes.to_vec()).await;
        }
    }

    async fn no_result(&self) {
        let name = &self.campaign().name;
        let other = Outcome::given_up(&unit("other", 1), "w", "x");
        let unknown = Outcome::given_up(
            &Unit {
                arm: "p7-pct".into(),
                ..unit(name, 1)
            },
            "w",
            "x",
        );
        for (id, bytes) in [
            ("x1", b"garbage".to_vec()),
            ("x2", br#"{"object":"nothing"}"#.to_vec()),
            (&*other.id(), unit::encode(&other)),
            (&*unknown.id(), unit::encode(&unknown)),
        ] {
            let subject = format!("photofinish.result.{name}.{id}");
            // Its name is taken now: the campaign must not need it.
            if id != other.id() {
                self.raw(subject, bytes).await;
            } else {
                self.raw(format!("photofinish.result.{name}.other"), bytes)
                    .await;
            }
        }
    }
}

/// A coordinator that ends in the middle is replaced by another one.
async fn a_coordinator_can_be_replaced<Q: Queue>(queue: Arc<Q>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let working = worker(&queue, 2, &lines);
    let running = tokio::spawn(async move { working.run().await });
    let mut coordinators = 0;
    loop {
        coordinators += 1;
        let mut account = Account::new(queue.campaign());
        let stop = AtomicBool::new(false);
        let mut nobody = ();
        let work = coordinator::coordinate(&*queue, &mut account, &stop, &mut nobody);
        // Dropped wherever it is.
        let ended = tokio::time::timeout(Duration::from_millis(60 * coordinators), work).await;
        if let Ok(ended) = ended {
            assert_eq!(ended.unwrap(), Ended::Done);
            assert_eq!(account.plan.done(), 200);
            assert_eq!(account.programs[0].orders.len(), 200);
            break;
        }
        assert!(coordinators < 200, "it does not end");
    }
    running.await.unwrap().unwrap();
}

/// Nothing of a bundle is used whose digest is wrong; its units are given up with that reason.
async fn a_wrong_digest_is_refused<Q: Queue>(queue: Arc<Q>) {
    let lines = the_bundle_is_refused(queue, "the bundle is refused").await;
    assert!(lines.contains("nothing of it was used"), "{lines}");
}

/// No more of a piece is read than the campaign says.
async fn a_piece_is_not_longer_than_it_says<Q: Queue>(queue: Arc<Q>) {
    the_bundle_is_refused(queue, "more than").await;
}

/// What is too large is not even asked for: there is no such piece.
async fn a_bundle_without_bounds_is_not_fetched<Q: Queue>(queue: Arc<Q>) {
    the_bundle_is_refused(queue, "larger than any class path").await;
}

/// The first unit is given back for this reason, and given up in the end; what the worker said.
async fn the_bundle_is_refused<Q: Queue>(queue: Arc<Q>, because: &str) -> String {
    let name = queue.campaign().name.clone();
    queue.publish(&[unit(&name, 0)]).await.unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let working = worker(&queue, 1, &lines);
    let running = tokio::spawn(async move { working.run().await });
    let read = queue.results(0, 1, 20 * LONG).await.unwrap();
    let outcome: Outcome = unit::decode(&read[0].bytes).unwrap();
    let End::GivenUp { why } = outcome.end else {
        panic!("{outcome:?}");
    };
    queue.set_state(State::Done).await.unwrap();
    running.await.unwrap().unwrap();
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains(because), "{why}\n{lines}");
    lines
}

/// What somebody has begun is waited for; what nobody has begun is taken back.
async fn a_campaign_ends_when_its_time_is_over<Q: Queue>(queue: Arc<Q>) {
    let over = queue.campaign().started + 10.0;
    let holder = queue.clone();
    let held = tokio::spawn(async move {
        let taken = holder.take(LONG).await.unwrap().expect("units wait");
        let unit: Unit = unit::decode(&taken.bytes).unwrap();
        while unit::now() < over + 2.0 {
            tokio::time::sleep(SHORT).await;
        }
        let outcome = Outcome::given_up(&unit, "slow", "because");
        assert_eq!(holder.store(&outcome).await.unwrap(), Kept::New);
        holder.finish(&taken.lease).await.unwrap();
    });
    let (mut account, stop) = (Account::new(queue.campaign()), AtomicBool::new(false));
    let ended = coordinator::coordinate(&*queue, &mut account, &stop, &mut ()).await;
    assert_eq!(ended.unwrap(), Ended::Done);
    held.await.unwrap();
    assert_eq!((account.plan.made(), account.plan.done()), (1, 1));
    assert!(
        queue.take(SHORT).await.unwrap().is_none(),
        "nothing is left"
    );
    assert_eq!(queue.made().await.unwrap(), Some(1));
    assert_eq!(queue.state().await.unwrap(), State::Done);
    // Another coordinator finds the time over, whatever has no result.
    let lost = unit(&queue.campaign().name, 77);
    let outcome = Outcome::given_up(&lost, "late", "because");
    queue.store(&outcome).await.unwrap();
    let mut again = Account::new(queue.campaign());
    let ended = coordinator::coordinate(&*queue, &mut again, &stop, &mut ()).await;
    assert_eq!(ended.unwrap(), Ended::Done);
    assert_eq!((again.plan.made(), again.plan.done()), (2, 2));
    assert!(again.report(0).limit_reached);
}

/// Whatever becomes of a unit without a result, the coordinator publishes it again.
async fn a_unit_that_a_worker_refused_is_given_out_again() {
    let dir = tempfile::tempdir().unwrap();
    let queue = embedded(dir.path(), plain);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let (others, working) = (queue.clone(), worker(&queue, 1, &lines));
    let running = tokio::spawn(async move {
        let taken = others.take(LONG).await.unwrap().expect("units wait");
        others.refuse(&taken.lease).await.unwrap();
        working.run().await
    });
    let (mut account, stop) = (Account::new(queue.campaign()), AtomicBool::new(false));
    let ended = coordinator::coordinate(&*queue, &mut account, &stop, &mut ()).await;
    assert_eq!(ended.unwrap(), Ended::Done);
    running.await.unwrap().unwrap();
    assert_eq!(account.plan.done(), 200);
}

/// Work of a later version is left to workers of that version. If there are none, it has a result that says so.
async fn a_task_that_no_worker_knows_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let server = NatsServer::start(dir.path(), &[]);
    let queue = on_server(&server, plain).await;
    let text =
        r#"{"campaign":"there","arm":"p0-simulated","index":7,"program":0,"task":"of-tomorrow"}"#;
    let subject = "photofinish.work.there.p0-simulated-7".to_owned();
    queue.raw(subject, text.as_bytes().to_vec()).await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let working = worker(&queue, 1, &lines);
    let running = tokio::spawn(async move { working.run().await });
    let read = queue.results(0, 1, 3 * LONG).await.unwrap();
    let outcome: Outcome = unit::decode(&read[0].bytes).unwrap();
    assert_eq!(outcome.id(), "p0-simulated-7");
    let End::GivenUp { why } = outcome.end else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("this version (photofinish "), "{why}");
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains("is given back"), "{lines}");
    queue.set_state(State::Done).await.unwrap();
    running.await.unwrap().unwrap();
}

fn block<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

/// What is different from [`campaign`].
type Change = fn(&mut Campaign, &mut BTreeMap<String, Vec<u8>>);

fn plain(_: &mut Campaign, _: &mut BTreeMap<String, Vec<u8>>) {}

fn other_content(_: &mut Campaign, pieces: &mut BTreeMap<String, Vec<u8>>) {
    pieces.values_mut().for_each(|piece| piece[0] ^= 1);
}

fn longer_content(_: &mut Campaign, pieces: &mut BTreeMap<String, Vec<u8>>) {
    let longer = |piece: &mut Vec<u8>| piece.resize(piece.len() + (1 << 20), 0);
    pieces.values_mut().for_each(longer);
}

fn without_bounds(campaign: &mut Campaign, _: &mut BTreeMap<String, Vec<u8>>) {
    let piece = &mut campaign.bundle.pieces[0];
    piece.digest = bundle::digest(b"of nothing");
    piece.bytes = 1 << 40;
}

/// Over soon, but not before somebody has begun; and a lease that no machine is too slow to extend.
fn soon_over(campaign: &mut Campaign, _: &mut BTreeMap<String, Vec<u8>>) {
    campaign.budget.seconds = Some(10.0);
    campaign.budget.lease_s = 60.0;
}

/// A campaign in a directory.
fn embedded(dir: &Path, change: Change) -> Arc<Embedded> {
    let (mut campaign, mut pieces) = campaign("here");
    change(&mut campaign, &mut pieces);
    Arc::new(Embedded::create(dir, campaign, &pieces).unwrap())
}

async fn on_server(server: &NatsServer, change: Change) -> Arc<Nats> {
    let (mut campaign, mut pieces) = campaign("there");
    change(&mut campaign, &mut pieces);
    let server = server_of(server).await;
    Arc::new(server.create(campaign, &pieces).await.unwrap())
}

/// The same test on both.
macro_rules! on_both {
    ($all:ident, $name:ident, $change:expr) => {
        $all.push(trial(concat!("embedded::", stringify!($name)), || {
            let dir = tempfile::tempdir().unwrap();
            block(async { $name(embedded(dir.path(), $change)).await });
        }));
        let name = concat!("nats::", stringify!($name));
        $all.push(match nats::program() {
            None => skipped(name, nats::MISSING),
            Some(_) => trial(name, || {
                let dir = tempfile::tempdir().unwrap();
                let server = NatsServer::start(dir.path(), &[]);
                block(async { $name(on_server(&server, $change).await).await });
            }),
        });
    };
}

fn main() {
    let mut all: Vec<Trial> = Vec::new();
    on_both!(all, leases_run_out_unless_they_are_extended, plain);
    on_both!(all, results_are_stored_once, plain);
    on_both!(all, a_campaign_runs_to_its_end, plain);
    on_both!(all, a_coordinator_can_be_replaced, plain);
    on_both!(all, a_wrong_digest_is_refused, other_content);
    on_both!(all, a_piece_is_not_longer_than_it_says, longer_content);
    on_both!(all, a_bundle_without_bounds_is_not_fetched, without_bounds);
    on_both!(all, a_campaign_ends_when_its_time_is_over, soon_over);
    let torn = "embedded::a_result_that_was_cut_short_is_made_again";
    all.push(trial(torn, || {
        block(a_result_that_was_cut_short_is_made_again())
    }));
    let lost = "embedded::a_unit_that_a_worker_refused_is_given_out_again";
    all.push(trial(lost, || {
        block(a_unit_that_a_worker_refused_is_given_out_again())
    }));
    let unknown = "nats::a_task_that_no_worker_knows_is_given_up";
    all.push(match nats::program() {
        None => skipped(unknown, nats::MISSING),
        Some(_) => trial(unknown, || {
            block(a_task_that_no_worker_knows_is_given_up());
        }),
    });
    all.push(match nats::program() {
        None => skipped("nats::strangers_are_not_let_in", nats::MISSING),
        Some(_) => trial("nats::strangers_are_not_let_in", || {
            block(strangers_are_not_let_in());
        }),
    });
    all.push(match nats::program() {
        None => skipped("nats::a_silent_server_ends_every_wait", nats::MISSING),
        Some(_) => trial("nats::a_silent_server_ends_every_wait", || {
            block(a_silent_server_ends_every_wait());
        }),
    });
    trials::run(all);
}

/// A server that does not answer: every question ends, says what it was, and is answered when it is asked again
/// after the server is back, with its files and nothing else.
async fn a_silent_server_ends_every_wait() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = NatsServer::start(dir.path(), &[]);
    let queue = on_server(&server, plain).await;
    queue
        .publish(&[unit("there", 0), unit("there", 1)])
        .await
        .unwrap();
    let taken = queue.take(LONG).await.unwrap().unwrap();
    let outcome = |index| Outcome::given_up(&unit("there", index), "w", "because");
    queue.store(&outcome(5)).await.unwrap();
    assert_eq!(queue.results(0, 9, LONG).await.unwrap().len(), 1);

    server.silence();
    let began = Instant::now();
    let (more, status) = ([unit("there", 2)], WorkerStatus::default());
    let result = outcome(0);
    let piece = &queue.campaign().bundle.pieces[0];
    let unanswered = tokio::join!(
        async { queue.publish(&more).await.map(drop) },
        queue.take(SHORT),
        queue.finish(&taken.lease),
        queue.give_back(&taken.lease, SHORT),
        queue.refuse(&taken.lease),
        async { queue.store(&result).await.map(drop) },
        async { queue.is_stored("p0-simulated-0").await.map(drop) },
        async { queue.results(1, 9, SHORT).await.map(drop) },
        async { queue.piece(piece).await.map(drop) },
        async { queue.state().await.map(drop) },
        queue.set_state(State::Stopped),
        queue.tell(&status),
        async { queue.workers().await.map(drop) },
    );
    let seconds = began.elapsed().as_secs();
    let (a, b, c, d, e, f, g, h, i, j, k, l, m) = unanswered;
    // Whether there is no work or no server is all the same to who waits for work.
    assert!(
        matches!(b, Ok(None) | Err(Error::Unreachable(_))),
        "nothing can have come"
    );
    for (answer, words) in [
        (a, "cannot publish"),
        (c, "cannot acknowledge work"),
        (d, "cannot give work back"),
        (e, "cannot refuse work"),
        (f, "cannot publish"),
        (g, "cannot look for a result"),
        (h, "cannot read results"),
        (i, "cannot read an object"),
        (j, "cannot read the state"),
        (k, "cannot write the state"),
        (l, "cannot say what this worker does"),
        (m, "cannot list workers"),
    ] {
        let Err(Error::Unreachable(said)) = answer else {
            panic!("{words}: {answer:?}");
        };
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(seconds < 40, "{seconds} s");

    server.restart();
    let workers = patiently(|| queue.workers()).await.unwrap();
    assert_eq!(workers, [], "nobody has said a word");
    patiently(|| queue.publish(&more)).await.unwrap();
    patiently(|| queue.store(&result)).await.unwrap();
    let read = patiently(|| queue.results(1, 9, SHORT)).await.unwrap();
    let read: Vec<&str> = read.iter().map(|stored| stored.unit.as_str()).collect();
    assert_eq!(read, ["p0-simulated-0"]);
    let mut units = BTreeSet::new();
    while units.len() < 3 {
        let taken = patiently(|| queue.take(LONG)).await.unwrap();
        let taken = taken.expect("no unit was lost");
        units.insert(unit::decode::<Unit>(&taken.bytes).unwrap().id());
        patiently(|| queue.finish(&taken.lease)).await.unwrap();
    }
    // Of a campaign that is not there any more a result is refused at once.
    server_of(&server).await.delete("there").await.unwrap();
    let late = outcome(7);
    let refused = patiently(|| queue.store(&late)).await;
    assert!(matches!(refused, Err(Error::Unknown(_))), "{refused:?}");
}

async fn server_of(server: &NatsServer) -> Server {
    let connection = Connection::new(server.url());
    Server::connect(&connection, "test").await.unwrap()
}

async fn a_result_that_was_cut_short_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("campaigns/here/results");
    let queue = embedded(dir.path(), plain);
    for index in 0..3 {
        let outcome = Outcome::given_up(&unit("here", index), "w", "because");
        queue.store(&outcome).await.unwrap();
    }
    drop(queue);
    let whole = std::fs::read(&file).unwrap();
    for length in [whole.len() - 1, whole.len() - 30, whole.len() / 2, 5, 0] {
        std::fs::write(&file, &whole[..length]).unwrap();
        let queue = Embedded::open(dir.path(), "here", true).unwrap();
        let kept = queue.results(0, 100, Duration::ZERO).await.unwrap().len();
        assert_eq!(
            kept,
            length * 3 / whole.len(),
            "{length} of {}",
            whole.len()
        );
        let again = Embedded::open(dir.path(), "here", true).unwrap_err();
        assert!(again.to_string().contains("another process"), "{again}");
        for index in 0..3 {
            let outcome = Outcome::given_up(&unit("here", index), "again", "because");
            let stored = queue.store(&outcome).await.unwrap();
            assert_eq!(stored == Kept::Known, (index as usize) < kept);
        }
        assert_eq!(
            queue.results(0, 100, Duration::ZERO).await.unwrap().len(),
            3
        );
    }
}

/// Users, tokens: from files, and not without.
async fn strangers_are_not_let_in() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let server = NatsServer::start(dir.path(), &["--auth", "s3cret"]);
    let without = Connection::new(server.url());
    let refused = Server::connect(&without, "test")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("cannot reach the NATS server"),
        "{refused}"
    );
    let with = Connection {
        token_file: Some(token.clone()),
        ..without.clone()
    };
    let allowed = Server::connect(&with, "test").await.unwrap();
    assert_eq!(allowed.names().await.unwrap(), Vec::<String>::new());
    let (campaign, pieces) = campaign("there");
    allowed.create(campaign.clone(), &pieces).await.unwrap();
    let twice = allowed
        .create(campaign, &pieces)
        .await
        .unwrap_err()
        .to_string();
    assert!(twice.contains("already"), "{twice}");
    let names: BTreeSet<String> = allowed.names().await.unwrap().into_iter().collect();
    assert_eq!(names, BTreeSet::from(["there".to_owned()]));
    allowed.delete("there").await.unwrap();
    assert!(matches!(
        allowed.open("there").await,
        Err(Error::Unknown(_))
    ));
    assert!(matches!(
        allowed.delete("there").await,
        Err(Error::Unknown(_))
    ));

    drop(server);
    let other = tempfile::tempdir().unwrap();
    let server = NatsServer::start(other.path(), &["--user", "ada", "--pass", "s3cret"]);
    let mut user = Connection {
        user: Some("ada".into()),
        ..Connection::new(server.url())
    };
    let refused = Server::connect(&user, "test")
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("--nats-password-file"), "{refused}");
    user.password_file = Some(token);
    Server::connect(&user, "test").await.unwrap();
    user.password_file = Some(other.path().join("nowhere"));
    assert!(Server::connect(&user, "test").await.is_err());
}
