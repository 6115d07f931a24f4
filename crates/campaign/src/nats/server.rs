//! The server as a whole: which campaigns it has, and how one is made, opened and removed.

use super::objects::{get, put};
use super::{CONSUMER, Connection, Nats};
use crate::bundle;
use crate::error::Error;
use crate::patience::ask;
use crate::queue::SILENT;
use crate::unit::{self, Campaign, LONGEST, State, is_name};
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::context::Context;
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{self, kv, object_store};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::Mutex;

const BUCKET: &str = "photofinish";
const WORKERS: &str = "photofinish-workers";
const DESCRIPTION: &str = "description";

/// Units that are worked on at a time, at most: a hundred machines with a hundred cores.
const MOST_PENDING: i64 = 20_000;

/// Messages that wait for the server's word at a time.
pub(super) const AT_ONCE: usize = 256;

/// A server, and whoever is let in there.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) js: Context,
    campaigns: kv::Store,
    pub(super) workers: kv::Store,
}

/// What the key-value bucket has of a campaign.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// Of the description, which is an object.
    digest: String,
}

impl Server {
    pub async fn connect(connection: &Connection, name: &str) -> Result<Server, Error> {
        let client = connection.open(name).await?;
        let js = jetstream::context::ContextBuilder::new()
            .timeout(Duration::from_secs(5))
            .max_ack_inflight(2 * AT_ONCE)
            .backpressure_on_inflight(true)
            .build(client);
        let what = "the server has no JetStream for us (nats-server -js, or an account with it)";
        Ok(Server {
            campaigns: ask(what, bucket(&js, BUCKET, Duration::ZERO)).await?,
            workers: ask(what, bucket(&js, WORKERS, SILENT)).await?,
            js,
        })
    }

    /// The names of the campaigns that there are.
    pub async fn names(&self) -> Result<Vec<String>, Error> {
        let keys = keys("cannot list campaigns", &self.campaigns).await?;
        let mut names: Vec<String> = keys.into_iter().filter(|key| is_name(key)).collect();
        names.sort();
        Ok(names)
    }

    pub async fn state(&self, name: &str) -> Result<State, Error> {
        let found = self.campaigns.get(format!("{name}.state"));
        match ask("cannot read the state of the campaign", found).await? {
            Some(text) => serde_json::from_slice(&text)
                .map_err(|error| Error::Refused(format!("the state cannot be read: {error}"))),
            None => Ok(State::Running),
        }
    }

    /// What is wrong when a stream of a campaign is not there: the campaign was removed, or the server
    /// was restarted and has not read its files yet.
    pub(super) async fn gone(&self, name: &str) -> Error {
        match ask("cannot look for the campaign", self.campaigns.get(name)).await {
            Ok(None) => Error::Unknown(name.to_owned()),
            Ok(Some(_)) => Error::Unreachable(format!(
                "the server does not have the streams of campaign {name:?} yet"
            )),
            Err(error) => error,
        }
    }

    /// Makes everything that a campaign needs, its name last: workers see it whole or not at all.
    pub async fn create(
        &self,
        campaign: Campaign,
        pieces: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Nats, Error> {
        let name = campaign.name.clone();
        if !is_name(&name) {
            return Err(Error::Usage(format!(
                "{name:?} is no name of a campaign: small letters, digits, - and _"
            )));
        }
        if self.names().await?.contains(&name) {
            return Err(Error::Usage(format!(
                "there is a campaign {name:?} already: go on with it (`campaign start --resume \
                 --name {name}`), give another --name, or remove it (`campaign stop --delete {name}`)"
            )));
        }
        let what = "cannot make the campaign on the server";
        let objects = self.js.create_object_store(object_store::Config {
            bucket: format!("photofinish-{name}"),
            ..object_store::Config::default()
        });
        let objects = ask(what, objects).await?;
        for (digest, bytes) in pieces {
            put(&objects, digest, bytes).await?;
        }
        let description = unit::encode(&campaign);
        put(&objects, DESCRIPTION, &description).await?;
        let work = self.js.get_or_create_stream(stream::Config {
            name: format!("photofinish-{name}-work"),
            subjects: vec![format!("photofinish.work.{name}.*")],
            retention: RetentionPolicy::WorkQueue,
            ..stream::Config::default()
        });
        let work = ask(what, work).await?;
        let results = self.js.get_or_create_stream(stream::Config {
            name: format!("photofinish-{name}-results"),
            subjects: vec![format!("photofinish.result.{name}.*")],
            ..stream::Config::default()
        });
        ask(what, results).await?;
        let consumer = work.create_consumer(pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: campaign.budget.lease(),
            max_deliver: -1,
            max_ack_pending: MOST_PENDING,
            max_waiting: MOST_PENDING,
            ..pull::Config::default()
        });
        ask(what, consumer).await?;
        self.set_state(&name, State::Running).await?;
        let entry = Entry {
            digest: bundle::digest(&description),
        };
        let text = serde_json::to_vec(&entry).unwrap_or_default();
        ask(what, self.campaigns.put(&name, text.into())).await?;
        self.open(&name).await
    }

    /// The campaign of this name.
    pub async fn open(&self, name: &str) -> Result<Nats, Error> {
        let unknown = || Error::Unknown(name.to_owned());
        if !is_name(name) {
            return Err(unknown());
        }
        let what = "cannot open the campaign";
        let entry = ask(what, self.campaigns.get(name)).await?;
        let entry: Entry = unit::decode(&entry.ok_or_else(unknown)?)?;
        let objects = self.js.get_object_store(format!("photofinish-{name}"));
        let objects = ask(what, objects).await?;
        let description = get(&objects, DESCRIPTION, LONGEST).await?;
        if bundle::digest(&description) != entry.digest {
            return Err(Error::Refused(format!(
                "the description of campaign {name:?} has another digest than its entry says: refused"
            )));
        }
        let campaign: Campaign = unit::decode(&description)?;
        campaign.check(name)?;
        let stream = |what: &str| self.js.get_stream(format!("photofinish-{name}-{what}"));
        let work = ask(what, stream("work")).await?;
        Ok(Nats {
            server: self.clone(),
            campaign,
            objects,
            results: ask(what, stream("results")).await?,
            consumer: ask(what, work.get_consumer(CONSUMER)).await?,
            reader: Mutex::new(None),
        })
    }

    /// Removes a campaign with everything that belongs to it, its results included.
    pub async fn delete(&self, name: &str) -> Result<(), Error> {
        if !self.names().await?.iter().any(|known| known == name) {
            return Err(Error::Unknown(name.to_owned()));
        }
        let what = "cannot remove the campaign";
        let rest = ["state", "made"].map(|what| format!("{name}.{what}"));
        for key in [name.to_owned()].into_iter().chain(rest) {
            ask(what, self.campaigns.purge(key)).await?;
        }
        for part in ["work", "results"] {
            let stream = format!("photofinish-{name}-{part}");
            ask(what, self.js.delete_stream(stream)).await?;
        }
        let objects = self.js.delete_object_store(format!("photofinish-{name}"));
        ask(what, objects).await
    }

    pub(super) async fn set_made(&self, name: &str, made: u64) -> Result<(), Error> {
        let text = made.to_string();
        let put = self.campaigns.put(format!("{name}.made"), text.into());
        ask("cannot write how many units there are", put).await?;
        Ok(())
    }

    pub(super) async fn made(&self, name: &str) -> Result<Option<u64>, Error> {
        let found = self.campaigns.get(format!("{name}.made"));
        let text = ask("cannot read how many units there are", found).await?;
        Ok(text.and_then(|text| std::str::from_utf8(&text).ok()?.parse().ok()))
    }

    pub(super) async fn set_state(&self, name: &str, state: State) -> Result<(), Error> {
        let text = serde_json::to_vec(&state).unwrap_or_default();
        let put = self.campaigns.put(format!("{name}.state"), text.into());
        ask("cannot write the state of the campaign", put).await?;
        Ok(())
    }
}

/// All keys of a bucket.
pub(super) async fn keys(what: &str, store: &kv::Store) -> Result<Vec<String>, Error> {
    let list = async {
        let keys = store.keys().await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(keys.try_collect().await?)
    };
    ask(what, list).await
}

/// The bucket, made if there is none. It is made as the stream that it is: the client's own way
/// asks for the account first, in a form that servers before 2.10 do not answer in.
async fn bucket(
    js: &Context,
    name: &str,
    max_age: Duration,
) -> Result<kv::Store, Box<dyn std::error::Error + Send + Sync>> {
    js.get_or_create_stream(stream::Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        max_age,
        duplicate_window: match max_age.is_zero() {
            true => Duration::from_secs(120),
            false => max_age.min(Duration::from_secs(120)),
        },
        discard: stream::DiscardPolicy::New,
        max_bytes: -1,
        max_messages: -1,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        num_replicas: 1,
        ..stream::Config::default()
    })
    .await?;
    Ok(js.get_key_value(name).await?)
}
