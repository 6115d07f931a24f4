//! Objects: the bundle's pieces, and whatever is too long for a message.

use crate::error::Error;
use crate::patience::{ANSWER, ask, ask_within};
use async_nats::jetstream::object_store::{GetErrorKind, ObjectStore};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The slowest connection that is worth a worker, in bytes a second.
const SLOWEST: usize = 64 << 10;

pub async fn put(objects: &ObjectStore, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let limit = ANSWER + Duration::from_secs((bytes.len() / SLOWEST) as u64);
    let mut reader = bytes;
    let put = objects.put(name, &mut reader);
    ask_within(limit, "cannot store an object", put).await?;
    Ok(())
}

/// An object of this many bytes at most: neither what the server says of its length nor what it
/// sends may exceed that.
pub async fn get(objects: &ObjectStore, name: &str, most: usize) -> Result<Vec<u8>, Error> {
    let missing = async {
        match objects.get(name).await {
            Err(error) if error.kind() == GetErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    };
    let found = ask("cannot read an object", missing).await?;
    let mut object =
        found.ok_or_else(|| Error::Refused(format!("the server has no object {name}")))?;
    let too_long = || Error::Refused(format!("object {name} has more than {most} bytes: refused"));
    if object.info.size > most {
        return Err(too_long());
    }
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 128 << 10]);
    loop {
        // Silence is bounded, not the whole: an object may be long.
        let reading = async {
            match object.read(&mut buffer).await {
                // The client compares digests, too: what is damaged will not get better.
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(Err(error)),
                other => other.map(Ok),
            }
        };
        match ask("cannot read an object", reading).await? {
            Ok(0) => return Ok(bytes),
            Ok(length) if bytes.len() + length > most => return Err(too_long()),
            Ok(length) => bytes.extend(&buffer[..length]),
            Err(error) => {
                return Err(Error::Refused(format!("object {name} is damaged: {error}")));
            }
        }
    }
}
