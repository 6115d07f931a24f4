//! The queue on a NATS JetStream server. A campaign NAME has there
//!
//! ```text
//! photofinish (key-value)          NAME: digest of its description; NAME.state; NAME.made: units that were published
//! photofinish-workers (key-value)  NAME.WORKER: what a worker said last; gone after a while
//! photofinish-NAME (objects)       the description, the bundle's pieces, results too long for a message
//! photofinish-NAME-work (stream)   photofinish.work.NAME.UNIT, removed when acknowledged
//! photofinish-NAME-results         photofinish.result.NAME.UNIT, kept
//! ```
//!
//! Workers pull from one durable consumer with explicit acknowledgements: a unit whose lease
//! is not extended is delivered again. How often a unit may fail is the worker's to judge, not the
//! server's, so that giving up leaves a result. A result is published under the name of its
//! unit on the condition that the subject is empty, so the server keeps the first
//! whatever happens to workers; the message id answers a repetition without a look at the disk.
//!
//! Everything is written to files, so a server that was restarted goes on where it was. The client
//! connects again by itself; what was asked meanwhile fails within a known time, and whoever asked repeats it
//! ([`crate::patience`]).

mod connect;
mod objects;
mod server;

pub use connect::{Connection, PASSWORD, TOKEN, USER};
pub use server::Server;

use crate::bundle::Piece;
use crate::error::Error;
use crate::patience::{ANSWER, ask, ask_within};
use crate::queue::{Kept, Queue, SILENT, Stored, Taken};
use crate::unit::{self, Campaign, LONGEST, Outcome, State, Unit, WorkerStatus};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::message::{AckKind, Message, PublishMessage};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use futures_util::{StreamExt, stream};
use objects::{get, put};
use serde::{Deserialize, Serialize};
use server::AT_ONCE;
use std::time::Duration;
use tokio::sync::Mutex;

const CONSUMER: &str = "workers";

/// Of the subjects of results.
const RESULT: &str = "result";

/// A campaign on a server.
pub struct Nats {
    server: Server,
    campaign: Campaign,
    objects: ObjectStore,
    results: Stream,
    consumer: PullConsumer,
    reader: Mutex<Option<Reader>>,
}

impl std::fmt::Debug for Nats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nats")
            .field("campaign", &self.campaign.name)
            .finish_non_exhaustive()
    }
}

/// Reads results in their order.
#[derive(Debug)]
struct Reader {
    consumer: PullConsumer,
    /// The last result that was read.
    at: u64,
}

/// A result that is too long for a message: the object that it is.
#[derive(Debug, Serialize, Deserialize)]
struct Elsewhere {
    object: String,
}

/// The next message of a batch. The server ends a batch after `wait`; a server that was killed in between does not.
async fn next(
    what: &str,
    wait: Duration,
    messages: &mut pull::Batch,
) -> Result<Option<Message>, Error> {
    let message = async { messages.next().await.transpose() };
    ask_within(wait + ANSWER, what, message).await
}

/// One message, if there is one within this time.
async fn one(
    what: &str,
    wait: Duration,
    consumer: &PullConsumer,
) -> Result<Option<Message>, Error> {
    let batch = consumer.batch().max_messages(1).expires(wait);
    let mut messages = ask(what, batch.messages()).await?;
    next(what, wait, &mut messages).await
}

impl Nats {
    fn subject(&self, what: &str, unit: &str) -> String {
        format!("photofinish.{what}.{}.{unit}", self.campaign.name)
    }

    /// Publishes any bytes under any subject: for tests of what is refused.
    #[doc(hidden)]
    pub async fn raw(&self, subject: String, bytes: Vec<u8>) {
        let sent = self.server.js.publish(subject, bytes.into()).await;
        if let Ok(sent) = sent {
            let _ = sent.await;
        }
    }

    /// Sends a message that the server is to keep unless there is one of its name.
    async fn send_once(
        &self,
        what: &str,
        unit: &str,
        bytes: Vec<u8>,
    ) -> Result<PublishAckFuture, Error> {
        let mut message = PublishMessage::build()
            .payload(bytes.into())
            .expected_last_subject_sequence(0);
        // Not for work: a unit that was refused may have to be published again within the server's memory of ids.
        if what == RESULT {
            message = message.message_id(format!("{what}.{unit}"));
        }
        let sent = self
            .server
            .js
            .send_publish(self.subject(what, unit), message);
        let sent = async { Ok::<_, Error>(sent.await) };
        match ask("cannot publish", sent).await? {
            Ok(sent) => Ok(sent),
            Err(error) => Err(self.unpublished(&error).await),
        }
    }

    /// Whether the server kept what was sent.
    async fn kept(&self, sent: PublishAckFuture) -> Result<Kept, Error> {
        let answer = async { Ok::<_, Error>(sent.await) };
        match ask("cannot publish", answer).await? {
            Ok(ack) if ack.duplicate => Ok(Kept::Known),
            Ok(_) => Ok(Kept::New),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Kept::Known),
            Err(error) => Err(self.unpublished(&error).await),
        }
    }

    async fn unpublished(&self, error: &PublishError) -> Error {
        match error.kind() {
            PublishErrorKind::StreamNotFound => self.server.gone(&self.campaign.name).await,
            PublishErrorKind::MaxPayloadExceeded => {
                Error::Refused("the message is too long".into())
            }
            _ => Error::server("cannot publish")(error),
        }
    }

    async fn reader(&self, after: u64) -> Result<Reader, Error> {
        let consumer = self.results.create_consumer(pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: after + 1,
            },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            memory_storage: true,
            ..pull::Config::default()
        });
        Ok(Reader {
            consumer: ask("cannot read results", consumer).await?,
            at: after,
        })
    }

    async fn resolved(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        match serde_json::from_slice::<Elsewhere>(&bytes) {
            Ok(Elsewhere { object }) => match get(&self.objects, &object, LONGEST).await {
                // A stranger's: whoever reads results refuses what is none, and goes on.
                Err(Error::Refused(_)) => Ok(bytes),
                other => other,
            },
            Err(_) => Ok(bytes),
        }
    }

    async fn stored(&self, message: &Message) -> Result<Stored, Error> {
        let info = message.info();
        let info = info.map_err(|e| Error::server("cannot read results")(&*e))?;
        let (sequence, at) = (info.stream_sequence, info.published);
        let unit = message.subject.rsplit('.').next().unwrap_or_default();
        Ok(Stored {
            sequence,
            at: at.unix_timestamp_nanos() as f64 / 1e9,
            unit: unit.to_owned(),
            bytes: self.resolved(message.payload.to_vec()).await?,
        })
    }

    async fn read_on(
        &self,
        reader: &mut Reader,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Stored>, Error> {
        let what = "cannot read results";
        let ready = reader.consumer.fetch().max_messages(most).messages();
        let mut messages = ask(what, ready).await?;
        let mut found = Vec::new();
        while let Some(message) = next(what, Duration::ZERO, &mut messages).await? {
            found.push(self.stored(&message).await?);
        }
        if found.is_empty()
            && !wait.is_zero()
            && let Some(message) = one(what, wait, &reader.consumer).await?
        {
            found.push(self.stored(&message).await?);
        }
        for stored in &found {
            // A batch that was lost on its way is read again.
            if stored.sequence != reader.at + 1 {
                return Err(Error::Unreachable("results were lost on their way".into()));
            }
            reader.at = stored.sequence;
        }
        Ok(found)
    }
}

impl Queue for Nats {
    type Lease = Message;

    fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    async fn publish(&self, units: &[Unit]) -> Result<usize, Error> {
        let mut new = 0;
        for some in units.chunks(AT_ONCE) {
            let mut waiting = Vec::with_capacity(some.len());
            for unit in some {
                let name = unit.id();
                let sent = self.send_once("work", &name, unit::encode(unit));
                waiting.push(sent.await?);
            }
            for sent in waiting {
                new += usize::from(self.kept(sent).await? == Kept::New);
            }
        }
        Ok(new)
    }

    async fn take(&self, wait: Duration) -> Result<Option<Taken<Message>>, Error> {
        let Some(message) = one("cannot take work", wait, &self.consumer).await? else {
            return Ok(None);
        };
        let deliveries = message.info().map_or(1, |info| info.delivered);
        Ok(Some(Taken {
            bytes: message.payload.to_vec(),
            deliveries: deliveries.unsigned_abs(),
            lease: message,
        }))
    }

    async fn extend(&self, lease: &Message) -> Result<(), Error> {
        ask("cannot extend a lease", lease.ack_with(AckKind::Progress)).await
    }

    async fn finish(&self, lease: &Message) -> Result<(), Error> {
        ask("cannot acknowledge work", lease.double_ack()).await
    }

    async fn give_back(&self, lease: &Message, after: Duration) -> Result<(), Error> {
        let back = lease.double_ack_with(AckKind::Nak(Some(after)));
        ask("cannot give work back", back).await
    }

    async fn refuse(&self, lease: &Message) -> Result<(), Error> {
        let refused = lease.double_ack_with(AckKind::Term);
        ask("cannot refuse work", refused).await
    }

    async fn store(&self, outcome: &Outcome) -> Result<Kept, Error> {
        if outcome.campaign != self.campaign.name {
            return Err(Error::Unknown(outcome.campaign.clone()));
        }
        let id = outcome.id();
        let mut bytes = unit::encode(outcome);
        let most = self.server.js.client().server_info().max_payload;
        if bytes.len() + 4096 > most {
            let object = format!("result-{id}");
            // Two workers may have done the same: what one of them wrote is whole.
            put(&self.objects, &object, &bytes).await?;
            bytes = serde_json::to_vec(&Elsewhere { object }).unwrap_or_default();
        }
        let sent = self.send_once(RESULT, &id, bytes).await?;
        self.kept(sent).await
    }

    async fn is_stored(&self, unit: &str) -> Result<bool, Error> {
        let subject = self.subject("result", unit);
        let found = async {
            match self.results.get_last_raw_message_by_subject(&subject).await {
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(false),
                other => other.map(|_| true),
            }
        };
        ask("cannot look for a result", found).await
    }

    async fn results(&self, after: u64, most: usize, wait: Duration) -> Result<Vec<Stored>, Error> {
        let mut reader = self.reader.lock().await;
        let mut current = match reader.take().filter(|reader| reader.at == after) {
            Some(reader) => reader,
            None => self.reader(after).await?,
        };
        // Where something goes wrong, the next call begins with a consumer of its own.
        let found = self.read_on(&mut current, most, wait).await?;
        *reader = Some(current);
        Ok(found)
    }

    async fn piece(&self, piece: &Piece) -> Result<Vec<u8>, Error> {
        get(&self.objects, &piece.digest, piece.bytes as usize).await
    }

    async fn state(&self) -> Result<State, Error> {
        self.server.state(&self.campaign.name).await
    }

    async fn set_state(&self, state: State) -> Result<(), Error> {
        self.server.set_state(&self.campaign.name, state).await
    }

    async fn set_made(&self, made: u64) -> Result<(), Error> {
        self.server.set_made(&self.campaign.name, made).await
    }

    async fn made(&self) -> Result<Option<u64>, Error> {
        self.server.made(&self.campaign.name).await
    }

    async fn tell(&self, status: &WorkerStatus) -> Result<(), Error> {
        let key = format!("{}.{}", self.campaign.name, status.name);
        let text = serde_json::to_vec(status).unwrap_or_default();
        let put = self.server.workers.put(key, text.into());
        ask("cannot say what this worker does", put).await?;
        Ok(())
    }

    async fn workers(&self) -> Result<Vec<WorkerStatus>, Error> {
        let what = "cannot list workers";
        let store = &self.server.workers;
        let own = format!("{}.", self.campaign.name);
        let mut keys = server::keys(what, store).await?;
        keys.retain(|key| key.starts_with(&own));
        // One after the other, a thousand workers would keep the coordinator from its results.
        let values = stream::iter(keys)
            .map(|key| async move { ask(what, store.get(key)).await })
            .buffered(AT_ONCE);
        let mut values = std::pin::pin!(values);
        let mut all = Vec::new();
        while let Some(value) = values.next().await {
            let value = value?;
            let status: Option<WorkerStatus> =
                value.and_then(|text| serde_json::from_slice(&text).ok());
            all.extend(status.filter(|w| unit::now() - w.at < SILENT.as_secs_f64()));
        }
        Ok(all)
    }
}
