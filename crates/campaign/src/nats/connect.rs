//! To the server: address, TLS, and who we are. Secrets come from files or from the environment,
//! never from the command line, where everybody on the machine can read them.

use crate::error::Error;
use async_nats::{ConnectErrorKind, ConnectOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A server that does not answer for this long is not there.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the server is, and how to be let in.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// `nats://host:4222`, or several with commas; `tls://` asks for TLS.
    pub url: String,
    pub user: Option<String>,
    pub password_file: Option<PathBuf>,
    pub token_file: Option<PathBuf>,
    /// A credentials file of a NATS account (JWT and seed).
    pub creds: Option<PathBuf>,
    /// Certificates of who signed the server's, besides the system's.
    pub ca: Option<PathBuf>,
    /// A certificate of our own, with its key.
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// Variables of the environment that hold what no file does. Programs under test do not get them.
pub use driver::secrets::{PASSWORD, TOKEN, USER};

impl Connection {
    pub fn new(url: impl Into<String>) -> Connection {
        Connection {
            url: url.into(),
            ..Connection::default()
        }
    }

    /// The addresses, without secrets in them.
    fn addresses(&self) -> Result<Vec<String>, Error> {
        let all = self
            .url
            .split(',')
            .map(str::trim)
            .filter(|url| !url.is_empty());
        let all: Vec<String> = all.map(str::to_owned).collect();
        if all.iter().any(|url| url.contains('@')) {
            return Err(Error::Usage(format!(
                "an address with a password or token in it can be read by everybody on this \
                 machine; put the secret into a file (--nats-password-file, --nats-token-file, \
                 --nats-creds) or into {PASSWORD} or {TOKEN}"
            )));
        }
        match all.is_empty() {
            true => Err(Error::Usage(
                "--nats needs an address: nats://host:4222".into(),
            )),
            false => Ok(all),
        }
    }

    fn options(&self, name: &str) -> Result<ConnectOptions, Error> {
        let env = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let mut options = ConnectOptions::new()
            .name(name)
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .require_tls(self.url.contains("tls://"));
        let user = self.user.clone().or_else(|| env(USER));
        let password = match &self.password_file {
            Some(file) => Some(secret(file)?),
            None => env(PASSWORD),
        };
        let token = match &self.token_file {
            Some(file) => Some(secret(file)?),
            None => env(TOKEN),
        };
        options = match (user, password, token) {
            (Some(user), Some(password), _) => options.user_and_password(user, password),
            (Some(user), None, _) => {
                return Err(Error::Usage(format!(
                    "user {user} has no password: --nats-password-file, or {PASSWORD}"
                )));
            }
            (None, _, Some(token)) => options.token(token),
            (None, _, None) => options,
        };
        if let Some(file) = &self.creds {
            let reading = format!("cannot use the credentials in {}", file.display());
            // The client wants a line that ends behind the last mark.
            let text = secret(file)? + "\n";
            options = options.credentials(&text).map_err(Error::io(reading))?;
        }
        if let Some(file) = &self.ca {
            readable(file)?;
            options = options.add_root_certificates(file.clone());
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            readable(cert)?;
            readable(key)?;
            options = options.add_client_certificate(cert.clone(), key.clone());
        }
        Ok(options)
    }

    /// A client that connects again by itself for as long as it lives.
    pub async fn open(&self, name: &str) -> Result<async_nats::Client, Error> {
        let addresses = self.addresses()?;
        let addresses: Result<Vec<async_nats::ServerAddr>, _> =
            addresses.iter().map(|url| url.parse()).collect();
        let addresses = addresses.map_err(|error| {
            let url = &self.url;
            Error::Usage(format!(
                "{url:?} is no address of a server ({error}); nats://host:4222"
            ))
        })?;
        let options = self.options(name)?;
        let connected = tokio::time::timeout(2 * PATIENCE, options.connect(addresses)).await;
        match connected {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => {
                let what = format!("cannot reach the NATS server at {}", self.url);
                let said = Error::server(&what)(&error);
                let is_away = [
                    ConnectErrorKind::Io,
                    ConnectErrorKind::Dns,
                    ConnectErrorKind::TimedOut,
                ];
                // A server that does not let us in will not do so a little later.
                match is_away.contains(&error.kind()) {
                    true => Err(said),
                    false => Err(Error::Refused(said.to_string())),
                }
            }
            Err(_) => Err(Error::Unreachable(format!(
                "the NATS server at {} does not answer",
                self.url
            ))),
        }
    }
}

fn secret(file: &Path) -> Result<String, Error> {
    let reading = format!("cannot read {}", file.display());
    let text = engine::input::read_text(file).map_err(Error::io(reading))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn readable(file: &Path) -> Result<(), Error> {
    let reading = format!("cannot read {}", file.display());
    std::fs::File::open(file)
        .map(drop)
        .map_err(Error::io(reading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_in_an_address() {
        for url in [
            "nats://user:pw@host",
            "nats://token@host:4222",
            "a,nats://x:y@b",
        ] {
            let error = Connection::new(url).addresses().unwrap_err().to_string();
            assert!(error.contains("--nats-token-file"), "{error}");
            assert!(!error.contains("pw"), "{error}");
        }
        assert!(Connection::new(" ").addresses().is_err());
        let two = Connection::new("nats://a:4222, nats://b:4222").addresses();
        assert_eq!(two.unwrap(), ["nats://a:4222", "nats://b:4222"]);
    }
}
