//! The live page of a campaign: one page from this binary, which needs nothing else. It folds the
//! same results as the coordinator ([`crate::account`]) and sends whole snapshots as server-sent events, at
//! most one a second.
//!
//! All names come from the program under test and may be hostile. They travel as JSON, the script
//! makes text nodes of them, and a content security policy lets no script run but that one, which it
//! names by its hash. A request under another name of this machine than the one that was
//! listened on is refused: a stranger's page must not read this one by DNS tricks.

mod snapshot;

use crate::account::Account;
use crate::coordinator;
use crate::error::Error;
use crate::queue::Queue;
use crate::replays;
use crate::unit::KeptSchedule;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::{Stream, stream};
use report::timeline::{Timeline, Timelines};
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The pause between two snapshots.
const PACE: Duration = Duration::from_secs(1);

/// A page that is being served.
#[derive(Debug)]
pub struct Served {
    pub address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
    fold: tokio::task::JoinHandle<Result<(), Error>>,
}

impl Served {
    /// Until the results cannot be read any more.
    pub async fn wait(self) -> Result<(), Error> {
        let folded = self.fold.await;
        self.task.abort();
        folded.unwrap_or_else(|error| Err(Error::Refused(error.to_string())))
    }
}

#[derive(Clone)]
struct Shared {
    snapshots: watch::Receiver<Arc<String>>,
    account: Arc<Mutex<Account>>,
    address: SocketAddr,
}

/// Serves the page of a campaign at this address.
pub async fn serve<Q: Queue>(queue: Arc<Q>, listen: SocketAddr) -> Result<Served, Error> {
    let listener = TcpListener::bind(listen).await;
    let listener = listener.map_err(Error::io(format!("cannot listen on {listen}")))?;
    let address = listener.local_addr();
    let address = address.map_err(Error::io("cannot tell the address".to_owned()))?;
    let mut account = Account::new(queue.campaign());
    coordinator::catch_up(&*queue, &mut account, &mut ()).await?;
    account.published = queue.made().await?;
    let first = snapshot(&*queue, &account).await?;
    let (sender, snapshots) = watch::channel(Arc::new(first));
    let account = Arc::new(Mutex::new(account));
    let shared = Shared {
        snapshots,
        account: account.clone(),
        address,
    };
    let fold = tokio::spawn(async move { fold(&*queue, &account, &sender).await });
    let app = Router::new()
        .route("/", get(page))
        .route("/events", get(events))
        .route("/report/{program}", get(finding))
        .layer(middleware::from_fn_with_state(shared.clone(), guarded))
        .with_state(shared);
    let task = tokio::spawn(async move {
        let _ = axum::serve(listener, app).await;
    });
    Ok(Served {
        address,
        task,
        fold,
    })
}

/// Reads on, and makes a snapshot now and then.
async fn fold<Q: Queue>(
    queue: &Q,
    account: &Mutex<Account>,
    sender: &watch::Sender<Arc<String>>,
) -> Result<(), Error> {
    let lock = || account.lock().unwrap_or_else(|e| e.into_inner());
    loop {
        tokio::time::sleep(PACE).await;
        loop {
            let after = lock().sequence;
            let read =
                crate::patience::patiently(|| queue.results(after, 500, Duration::ZERO)).await?;
            if read.is_empty() {
                break;
            }
            let mut account = lock();
            for stored in &read {
                let _ = account.add(stored);
            }
        }
        let text = {
            let state = crate::patience::patiently(|| queue.state()).await?;
            let workers = crate::patience::patiently(|| queue.workers()).await?;
            let made = crate::patience::patiently(|| queue.made()).await?;
            let mut account = lock();
            account.published = made;
            snapshot::text(&account, state, &workers)
        };
        sender.send_replace(Arc::new(text));
    }
}

async fn snapshot<Q: Queue>(queue: &Q, account: &Account) -> Result<String, Error> {
    let (state, workers) = (queue.state().await?, queue.workers().await?);
    Ok(snapshot::text(account, state, &workers))
}

/// As a content security policy names a script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text.as_bytes())))
}

async fn page() -> Response {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(&script()),
        hash(STYLE)
    );
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>Photofinish</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>Photofinish</h1><span id=\"name\"></span><span id=\"link\">connects</span></header>\n\
         <main><noscript>This page needs its script to show anything.</noscript></main>\n\
         <script>{}</script>\n</body>\n</html>\n",
        script()
    );
    html(text.into_bytes(), Some(policy))
}

fn script() -> String {
    format!("\"use strict\";\n{SCRIPT}")
}

fn html(text: Vec<u8>, policy: Option<String>) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fixed {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    if let Some(policy) = policy.and_then(|text| text.parse().ok()) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Refuses requests that name another host.
async fn guarded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    match is_ours(host, shared.address) {
        true => next.run(request).await,
        false => (StatusCode::MISDIRECTED_REQUEST, "this is another host\n").into_response(),
    }
}

/// Whether a `Host` header means this server. One that listens to the world has names that
/// nobody here knows.
fn is_ours(host: &str, address: SocketAddr) -> bool {
    if !address.ip().is_loopback() {
        return true;
    }
    let name = host
        .strip_suffix(&format!(":{}", address.port()))
        .unwrap_or(host);
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

async fn events(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut snapshots = shared.snapshots;
    snapshots.mark_changed();
    let all = stream::unfold(snapshots, |mut snapshots| async move {
        snapshots.changed().await.ok()?;
        let text = snapshots.borrow_and_update().clone();
        Some((Ok(Event::default().data(&*text)), snapshots))
    });
    Sse::new(all).keep_alive(KeepAlive::default())
}

/// The report of a program as it is now, with the timelines of its findings.
async fn finding(State(shared): State<Shared>, Path(program): Path<usize>) -> Response {
    let made = tokio::task::spawn_blocking(move || {
        let account = shared.account.lock().unwrap_or_else(|e| e.into_inner());
        let described = account.campaign.programs.get(program)?;
        let timelines = timelines(&account, program);
        let args: Vec<std::ffi::OsString> = described.original.iter().map(Into::into).collect();
        let report = account.report(program);
        drop(account);
        let sources = engine::sources::SourceTree::new(&[], &args);
        let mut page = Vec::new();
        report::html::write(&report, &sources, &timelines, &mut page).ok()?;
        Some(page)
    });
    match made.await {
        // The page brings its own policy.
        Ok(Some(page)) => html(page, None),
        _ => (StatusCode::NOT_FOUND, "there is no such program\n").into_response(),
    }
}

/// The schedules that workers have sent, to step through.
pub fn timelines(account: &Account, program: usize) -> Timelines {
    let (_, kept) = account.told(program, |name| Some(name.to_owned()));
    let timeline = |kept: KeptSchedule| {
        let log = schedule::log::read(&replays::log(&kept)?).ok()?;
        Some((kept.schedule.name, Timeline::of_log(&log)))
    };
    kept.into_iter().filter_map(timeline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_can_name_the_script() {
        for text in [SCRIPT, STYLE] {
            // The browser hashes what it reads, and it reads CRLF as LF.
            assert!(!text.contains('\r') && !text.contains("</"));
        }
    }

    #[test]
    fn other_hosts_are_refused_where_only_this_machine_may_ask() {
        let own: SocketAddr = "127.0.0.1:7171".parse().unwrap();
        for host in [
            "127.0.0.1:7171",
            "localhost:7171",
            "[::1]:7171",
            "localhost",
        ] {
            assert!(is_ours(host, own), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7171",
            "localhost.evil.example:7171",
            "",
        ] {
            assert!(!is_ours(host, own), "{host}");
        }
        assert!(is_ours(
            "build.example:7171",
            "0.0.0.0:7171".parse().unwrap()
        ));
    }
}
